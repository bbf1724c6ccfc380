package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"autotune/harness"
	"autotune/harness/protocol"
)

// noLimit is a memory limit in bytes that nothing reaches; with one the worker counts tensors alone.
const noLimit = 1 << 50

// result is what one worker gave.
type result struct {
	predicted, measured int64   // peak bytes of tensors
	seconds, processor  float64 // that the prediction took, by the clock and of processor time
}

// both trains the work for two counted steps and a timed one, then predicts it, in one worker of the workload.
func both(w harness.Workload, work protocol.Work, batch int) (r result, err error) {
	folder, err := os.MkdirTemp("", "predictions")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(folder)
	command, err := w.Prepare(folder)
	if err != nil {
		return r, err
	}
	worker, conn, err := start(command)
	if err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, conn.Send(new(protocol.Exit)), worker.Wait())
	}()
	if _, err := receive[*protocol.Ready](conn); err != nil {
		return r, err
	}
	trial := &protocol.Trial{Work: work, Number: 1, MicroBatch: batch, WarmupSteps: 2, Steps: 1, LimitBytes: noLimit}
	done, err := ask[*protocol.Done](conn, trial)
	if err != nil {
		return r, err
	}
	before := processorSeconds(worker.Process.Pid)
	predicted, err := ask[*protocol.Predicted](conn, &protocol.Predict{Work: work, MicroBatches: []int{batch}})
	if err != nil {
		return r, err
	}
	return result{
		predicted: predicted.Splits[0].Peak, measured: done.Memory.Peak[protocol.Tensors],
		seconds: predicted.Seconds, processor: processorSeconds(worker.Process.Pid) - before,
	}, nil
}

// processorSeconds is the processor time of a process so far (proc(5), stat: utime and stime in hundredths of a second); 0: not known.
func processorSeconds(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

// ask sends a request and waits for its answer.
func ask[M protocol.Message](conn *protocol.Conn, request protocol.Message) (M, error) {
	if err := conn.Send(request); err != nil {
		var none M
		return none, err
	}
	return receive[M](conn)
}

// start starts a worker and connects to it.
func start(command []string) (*exec.Cmd, *protocol.Conn, error) {
	theirRequests, requests, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	answers, theirAnswers, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer theirRequests.Close()
	defer theirAnswers.Close()
	c := exec.Command(command[0], command[1:]...)
	c.Stderr = os.Stderr
	c.ExtraFiles = []*os.File{theirRequests, theirAnswers} // descriptors 3 and 4
	return c, protocol.NewConn(answers, requests), c.Start()
}

// receive waits for a message of one kind; steps before it are passed over.
func receive[M protocol.Message](conn *protocol.Conn) (M, error) {
	var none M
	for {
		message, err := conn.Receive()
		if err != nil {
			return none, err
		}
		switch m := message.(type) {
		case M:
			return m, nil
		case *protocol.Step:
		case *protocol.Failed:
			return none, fmt.Errorf("%s in %s: %s", m.Type, m.Phase, m.Text)
		default:
			return none, fmt.Errorf("the worker said %s", protocol.Name(message))
		}
	}
}
