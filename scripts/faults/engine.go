//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"autotune/harness/protocol"
)

const (
	mib = 1 << 20
	// A trial of micro-batch b peaks at fixedBytes + b*sampleBytes; limitBytes then lets trueBorder fit.
	fixedBytes  = 20 * mib
	sampleBytes = 1 * mib
	limitBytes  = 100 * mib
	trueBorder  = (limitBytes - fixedBytes) / sampleBytes
)

// The phases of a worker in which a fault can come.
const (
	phaseStart   = "start"   // before ready
	phasePredict = "predict" // while it predicts memory
	phaseBuild   = "build"   // before a trial's first step
	phaseWarmup  = "warmup"  // in place of a warm-up step
	phaseStep    = "step"    // in place of a timed step
	phaseDone    = "done"    // before done is said
	phaseClean   = "cleanup" // after done was said
	phaseExit    = "exit"    // when it is told to end
)

// fault is the order to a worker: what to do, and when.
type fault struct {
	Kind  string `json:"kind"`
	Phase string `json:"phase"`
	// Trial is the trial in which it comes; for start and exit the worker, from 1.
	Trial int `json:"trial"`
	// Size is the micro-batch from which on, or at which, a lasting fault comes; 0: there is none.
	Size  int    `json:"size"`
	State string `json:"state"` // a folder for what workers have to remember
	Group string `json:"group"` // control group with little memory, for kinds that need one
	Fresh bool   `json:"fresh"` // every trial gets a worker of its own
}

// engine trains nothing: its steps take a millisecond, and its memory is a straight line.
type engine struct {
	fault
	armed bool // the next done is followed by the fault
}

// moment is a point at which a fault can come, with what it may change there.
type moment struct {
	*engine
	trial *protocol.Trial // nil: none runs
	step  *protocol.Step  // nil: not in a step
	done  *protocol.Done  // nil: not before done
	err   error           // what the engine is to fail with
}

// come runs the fault where this is its moment. It comes once in a run.
func (e *engine) come(m moment, phase string, number int) error {
	if e.Phase != phase || e.Trial != number {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(e.State, "fired"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil
	}
	_, _ = fmt.Fprint(file, time.Now().UnixNano())
	_ = file.Close()
	m.engine = e
	effects[e.Kind](&m)
	return m.err
}

// Ready is what the engine says of itself.
func (e *engine) Ready() protocol.Ready {
	return protocol.Ready{Engine: "faults", Device: "cpu", Precisions: []string{"fp32"}, Counters: []string{protocol.Simulated, protocol.Resident}}
}

// Predict is 30% too high, so that the search still has something to do.
func (e *engine) Predict(protocol.Predict) (protocol.Predicted, error) {
	if err := e.come(moment{}, phasePredict, e.Trial); err != nil {
		return protocol.Predicted{}, err
	}
	return protocol.Predicted{Counter: protocol.Simulated, Lines: []protocol.Line{{Fixed: 1.3 * fixedBytes, PerSample: 1.3 * sampleBytes}}, Seconds: 0.001}, nil
}

// Run runs a trial of which each step takes a millisecond or two, or the time that was asked for.
func (e *engine) Run(t protocol.Trial, report func(protocol.Step) error) (protocol.Done, error) {
	fmt.Printf("trial %d of micro-batch %d\n", t.Number, t.MicroBatch)
	if e.Kind == mountLogs { // enough for a disk of some pages, into whichever trial's log it comes
		fmt.Println(strings.Repeat(".", 2*os.Getpagesize()))
	}
	done := protocol.Done{StepsRun: t.WarmupSteps + t.Steps, Memory: e.memory(t)}
	if err := e.come(moment{trial: &t}, phaseBuild, t.Number); err != nil {
		return done, err
	}
	if err := e.lasting(t); err != nil {
		return done, err
	}
	if done.Memory.Peak[protocol.Simulated] > e.limit(t) {
		return done, &protocol.Error{Type: "torch.OutOfMemoryError", Phase: "forward", Err: errors.New("no room for the activations")}
	}
	for i := range done.StepsRun {
		if err := e.step(t, i, report); err != nil {
			return done, err
		}
	}
	err := e.come(moment{trial: &t, done: &done}, phaseDone, t.Number)
	e.armed = e.Phase == phaseClean && e.Trial == t.Number
	return done, err
}

// step runs and reports step i, from 0.
func (e *engine) step(t protocol.Trial, i int, report func(protocol.Step) error) error {
	seconds, loss := stepSeconds(t.MicroBatch, t.Seconds/float64(t.Steps)), 1.0
	time.Sleep(time.Duration(seconds * float64(time.Second)))
	s := protocol.Step{Warmup: i < t.WarmupSteps, Loss: &loss, Samples: t.MicroBatch * t.Accumulation, Seconds: seconds}
	phase := phaseStep
	if s.Warmup {
		phase = phaseWarmup
	}
	if err := e.come(moment{trial: &t, step: &s}, phase, t.Number); err != nil {
		return err
	}
	return report(s)
}

// stepSeconds is the time that a step says it took, at least so many seconds.
func stepSeconds(size int, least float64) float64 { return max(0.001+float64(size)/1e5, least) }

// soakSeconds is the length of the last run.
const soakSeconds = 0.01

// memory is what the trial takes.
func (e *engine) memory(t protocol.Trial) protocol.Memory {
	bytes := map[string]int64{protocol.Simulated: fixedBytes + int64(t.MicroBatch)*sampleBytes}
	bytes[protocol.Resident] = bytes[protocol.Simulated]
	return protocol.Memory{Baseline: map[string]int64{protocol.Simulated: 10 * mib, protocol.Resident: 10 * mib}, Peak: bytes, Reset: !e.Fresh}
}

// limit is what the device has now.
func (e *engine) limit(t protocol.Trial) int64 {
	if e.Kind == kindBusy && t.Number >= e.Trial {
		return fixedBytes + int64(e.Size)*sampleBytes
	}
	return limitBytes
}

// lasting is the failure of a size that fails whenever it is tried, and not for want of memory.
func (e *engine) lasting(t protocol.Trial) error {
	text := ""
	switch {
	case e.Kind == kindBatchNorm && t.MicroBatch == 1:
		text = "Expected more than 1 value per channel when training, got input size torch.Size([1, 8, 1, 1])"
	case e.Kind == kindIndex && t.MicroBatch >= e.Size:
		text = "integer out of range: the tensor has more than 2147483647 elements"
	case e.Kind == kindHole && t.MicroBatch == e.Size:
		text = "this size has no kernel"
	default:
		return nil
	}
	return &protocol.Error{Type: "ValueError", Phase: "forward", Err: errors.New(text)}
}

// answers passes on what the worker says, with the fault after done where it is due.
type answers struct {
	io.Writer
	engine *engine
}

// Write writes whole lines.
func (a answers) Write(line []byte) (int, error) {
	n, err := a.Writer.Write(line)
	if a.engine.armed && bytes.Contains(line, []byte(`"op":"done"`)) {
		a.engine.armed = false
		_ = a.engine.come(moment{}, phaseClean, a.engine.Trial)
	}
	return n, err
}

// workerMain is the worker's main.
func workerMain(f fault) int {
	e := &engine{fault: f}
	number := e.startNumber()
	_ = e.come(moment{}, phaseStart, number)
	err := protocol.Serve(os.NewFile(3, "requests"), answers{os.NewFile(4, "answers"), e}, e)
	_ = e.come(moment{}, phaseExit, number)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// startNumber counts the workers of a run, from 1.
func (e *engine) startNumber() int {
	for n := 1; ; n++ {
		file, err := os.OpenFile(filepath.Join(e.State, "start-"+strconv.Itoa(n)), os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			_ = file.Close()
			return n
		}
		if !errors.Is(err, os.ErrExist) {
			return 0
		}
	}
}
