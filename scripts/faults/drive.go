//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"autotune/harness"
)

// drive is one run with one fault, driven from outside.
type drive struct {
	kind   *kind
	seed   uint64
	random *rand.Rand
	limits limits
	folder string // of all that belongs to it
	id     string // marks its processes
	job    job

	mu     sync.Mutex
	told   []told // what its tuner's processes said
	stderr bytes.Buffer

	result   result    // of the last process
	fired    time.Time // when the fault came; zero: it did not
	kept     []int     // trials that a journal had that was cut afterwards
	cut      bool      // a journal was cut: trials that had ended are run again
	came     bool      // the fault came, as far as it is seen here
	problems []string
}

// limits bound the time and the memory of a run.
type limits struct {
	deadline float64       // of starts and trials in kinds that hang, seconds
	grace    time.Duration // from a deadline, or the fault, to the next trial
	memory   int64         // of the tuner's process, bytes
}

// patience is the deadline of what should not need one, in seconds.
const patience = 60

// run is the run's folder.
func (d *drive) run() string { return d.job.Dir }

// wrong notes a problem.
func (d *drive) wrong(format string, args ...any) {
	d.problems = append(d.problems, fmt.Sprintf(format, args...))
}

// process is a tuner's process.
type process struct {
	command *exec.Cmd
	ended   chan struct{}
}

// start starts a tuner's process; on is called with each line that it says.
func (d *drive) start(j job, on func(told)) (*process, error) {
	order, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(program)
	c.Env = append(os.Environ(), roleVariable+"=tuner", orderVariable+"="+string(order), markVariable+"="+d.id)
	c.Stderr = &d.stderr
	if j.Mount != "" {
		c.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	p := &process{command: c, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		d.listen(out, on)
		_ = c.Wait()
	}()
	return p, nil
}

// listen keeps what a tuner's process says.
func (d *drive) listen(out io.Reader, on func(told)) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var t told
		if json.Unmarshal(lines.Bytes(), &t) != nil {
			continue
		}
		d.mu.Lock()
		d.told = append(d.told, t)
		if t.Result != nil {
			d.result = *t.Result
		}
		d.mu.Unlock()
		if on != nil {
			on(t)
		}
	}
}

// wait waits for the end of the process, for so long as any run may take.
func (d *drive) wait(p *process) {
	select {
	case <-p.ended:
	case <-time.After(3 * patience * time.Second):
		d.wrong("the tuner's process had not ended after %d s", 3*patience)
		_ = p.command.Process.Kill()
		<-p.ended
	}
}

// do makes a run, or goes on with it, to its end.
func (d *drive) do(j job) {
	d.result = result{Exit: -1}
	p, err := d.start(j, nil)
	if err != nil {
		d.wrong("the tuner's process cannot be started: %v", err)
		return
	}
	d.wait(p)
	if d.result.Exit == -1 {
		d.wrong("the tuner's process ended without a result: %v\n%s", p.command.ProcessState, d.stderr.String())
	}
}

// driveToEnd makes one run.
func driveToEnd(d *drive) { d.do(d.job) }

// driveDisk makes one run on a disk that cannot be written, or that is full before its end; it is then given room.
func driveDisk(d *drive) {
	d.do(d.job)
	d.came = d.job.Mount == mountReadOnly || strings.Contains(d.result.Before, "no space left on device")
	if d.result.Before != "" && !d.came {
		d.wrong("the disk was to be full, and: %s", d.result.Before)
	}
}

// driveUnderFile makes a run whose folder is under a file.
func driveUnderFile(d *drive) {
	file := filepath.Join(d.folder, "file")
	_ = os.WriteFile(file, nil, 0o666)
	d.job.Dir, d.came = filepath.Join(file, "run"), true
	d.do(d.job)
}

// driveTorn makes a run, cuts its journal anywhere and goes on.
func driveTorn(d *drive) {
	d.do(d.job)
	path := filepath.Join(d.run(), harness.JournalName)
	content, err := os.ReadFile(path)
	if err != nil {
		d.wrong("%v", err)
		return
	}
	content = content[:d.random.IntN(len(content))]
	_ = os.WriteFile(path, content, 0o666)
	d.cut, d.came = true, true
	if run, err := harness.ReadRun(d.run()); err == nil {
		for _, t := range run.Trials {
			d.kept = append(d.kept, t.Number)
		}
	}
	d.job.Resume = true
	d.do(d.job)
}

// driveSignal sends the tuner a signal at some moment of some trial, and then goes on with the run.
func driveSignal(d *drive) {
	name, _, _ := strings.Cut(d.kind.name, " ")
	signal := map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP, "SIGKILL": syscall.SIGKILL}[name]
	var p *process
	started := make(chan struct{})
	delay := time.Duration(d.random.Float64() * 10 * float64(time.Millisecond))
	d.result = result{Exit: -1}
	p, err := d.start(d.job, func(t told) {
		if t.Begin == d.job.Fault.Trial {
			<-started
			time.Sleep(delay)
			d.fired = time.Now()
			_ = p.command.Process.Signal(signal)
		}
	})
	if err != nil {
		d.wrong("the tuner's process cannot be started: %v", err)
		return
	}
	close(started)
	d.wait(p)
	if took := time.Since(d.fired); !d.fired.IsZero() && took > d.limits.grace {
		d.wrong("the tuner ended %v after the signal", took)
	}
	if e := d.result.Exit; signal != syscall.SIGKILL && e != 0 && e != harness.ExitInterruption {
		d.wrong("exit code %d after the signal: %s", e, d.result.Reason)
	}
	d.came = !d.fired.IsZero() && d.result.Exit != 0 // else the run had ended before
	d.noProcesses("after the signal")
	if _, err := os.Stat(filepath.Join(d.run(), harness.JournalName)); err != nil {
		return
	}
	d.job.Resume = true
	d.do(d.job)
}

// driveSecond starts a second tuner in the folder of one that runs.
func driveSecond(d *drive) {
	second := d.job
	second.Resume = true
	var once sync.Once
	var other sync.WaitGroup
	p, err := d.start(d.job, func(t told) {
		if t.Begin != d.job.Fault.Trial {
			return
		}
		once.Do(func() {
			other.Add(1)
			go func() {
				defer other.Done()
				d.second(second)
			}()
		})
	})
	if err != nil {
		d.wrong("%v", err)
		return
	}
	d.wait(p)
	other.Wait()
}

// second makes a run beside another one, which refuses it unless it has ended by then.
func (d *drive) second(j job) {
	beside := &drive{kind: d.kind, limits: d.limits, folder: d.folder, id: d.id}
	beside.do(j)
	d.problems = append(d.problems, beside.problems...)
	refused := beside.result.Exit == harness.ExitUsage && strings.Contains(beside.result.Reason, "another autotune is running")
	d.came = refused
	if !refused && beside.result.Exit != 0 {
		d.wrong("the second tuner ended with %d: %s", beside.result.Exit, beside.result.Reason)
	}
}

// processes are the living processes with the run's mark in their environment, with their command lines.
func (d *drive) processes() map[int]string {
	found := map[int]string{}
	names, _ := os.ReadDir("/proc")
	for _, n := range names {
		id, err := strconv.Atoi(n.Name())
		if err != nil {
			continue
		}
		environment, err := os.ReadFile("/proc/" + n.Name() + "/environ")
		if err == nil && bytes.Contains(environment, []byte(markVariable+"="+d.id+"\x00")) {
			line, _ := os.ReadFile("/proc/" + n.Name() + "/cmdline")
			found[id] = strings.TrimSpace(string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return found
}

// noProcesses waits for the end of the run's processes; those that stay are a problem, and are ended.
func (d *drive) noProcesses(when string) {
	var found map[int]string
	for begun := time.Now(); time.Since(begun) < d.limits.grace; time.Sleep(20 * time.Millisecond) {
		if found = d.processes(); len(found) == 0 {
			return
		}
	}
	for id, line := range found {
		d.wrong("%s process %d was left: %s", when, id, line)
		_ = syscall.Kill(id, syscall.SIGKILL)
	}
}
