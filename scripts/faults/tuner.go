//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/tuner"
)

// job is the order to a tuner's process: a run to make or to go on with.
type job struct {
	Dir      string  `json:"dir"`
	Resume   bool    `json:"resume"`
	Deadline float64 `json:"deadline"` // of a start and of a trial, in seconds
	Batch    string  `json:"batch"`
	Predicts bool    `json:"predicts"`
	Counter  string  `json:"counter"` // that the limit holds
	Mount    string  `json:"mount"`   // one of the mount constants; empty: none
	Pages    int     `json:"pages"`   // of the mounted disk
	Fault    fault   `json:"fault"`
}

// told is a line that a tuner's process prints for the one that drives it.
type told struct {
	Begin  int     `json:"begin,omitempty"` // trial
	End    int     `json:"end,omitempty"`   // trial
	Note   string  `json:"note,omitempty"`
	At     int64   `json:"at"` // nanoseconds since 1970
	Result *result `json:"result,omitempty"`
}

// result is how a run ended, as its process saw it.
type result struct {
	Exit       int      `json:"exit"`
	Reason     string   `json:"reason"`
	Before     string   `json:"before"` // reason of an end before it, which was mended
	Leaks      []string `json:"leaks"`
	PeakMemory int64    `json:"peak_memory"` // resident set of the process, bytes
}

// teller prints what happens.
type teller struct{}

func tell(t told) {
	t.At = time.Now().UnixNano()
	line, _ := json.Marshal(t)
	_, _ = os.Stdout.Write(append(line, '\n'))
}

// Begin says nothing.
func (teller) Begin(harness.Header) {}

// TrialBegin says which trial begins.
func (teller) TrialBegin(number int, _ tuner.Request, _ int, _ float64) { tell(told{Begin: number}) }

// TrialEnd says which trial is in the journal.
func (teller) TrialEnd(r harness.TrialRecord, _ tuner.Status) { tell(told{End: r.Number}) }

// Note passes on.
func (teller) Note(text string) { tell(told{Note: text}) }

// tunerMain makes one run and looks for what it leaves in this process.
func tunerMain(j job) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := j.mount(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if r, w, err := os.Pipe(); err == nil { // the poller has its descriptors from now on
		_, _ = r.Close(), w.Close()
	}
	files, goroutines := openFiles(), runtime.NumGoroutine()
	err := j.run(ctx)
	var r result
	if j.Mount == mountJournal || j.Mount == mountLogs {
		if err == nil {
			r.Before = "the disk was never full"
		} else {
			r.Before = err.Error()
			err = j.afterFull(ctx)
		}
	}
	r.Exit, r.Reason = exitOf(err)
	r.Leaks = leaks(files, goroutines)
	r.PeakMemory = peakMemory()
	if j.Mount != "" {
		j.keepJournal()
	}
	tell(told{Result: &r})
	return r.Exit
}

// run makes the run, or goes on with it.
func (j job) run(ctx context.Context) error {
	o := harness.Options{Dir: j.Dir, Workload: j.workload(), Events: teller{}}
	if j.Resume {
		_, err := harness.Resume(ctx, o)
		return err
	}
	available := int64(8 << 30)
	plan, err := harness.NewPlan(harness.Settings{
		Command: harness.CommandTune, Objective: string(tuner.Batch), Batch: j.Batch, MemoryLimit: "100MiB",
		TrialTimeout: j.Deadline, Soak: soakSeconds,
	}, o.Workload, harness.Environment{AvailableBytes: &available, Cores: 2})
	if err != nil {
		return err
	}
	o.Plan = plan
	_, err = harness.Tune(ctx, o)
	return err
}

// workload is the misbehaving engine.
func (j job) workload() harness.Workload {
	order, _ := json.Marshal(j.Fault)
	program, _ := os.Executable()
	return harness.Workload{
		Prepare: func(string) ([]string, error) { return []string{program}, nil },
		Env:     []string{roleVariable + "=worker", orderVariable + "=" + string(order), "GORACE=atexit_sleep_ms=0"},
		Model:   "faults", Engine: "faults", Device: "cpu", DeviceName: "none", Precisions: []string{"fp32"},
		LimitOn: j.Counter, Predicts: j.Predicts, StartTimeout: time.Duration(j.Deadline * float64(time.Second)),
		Facts: harness.ModelFacts{Parameters: 1, RecipeBatch: 32, RecipeOptimizer: "sgd", SampleUnit: "sample", InputShape: []int{1}},
	}
}

// exitOf is the exit code and the text of an error.
func exitOf(err error) (int, string) {
	var coded interface{ ExitCode() int }
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &coded):
		return coded.ExitCode(), err.Error()
	}
	return harness.ExitFailed, err.Error()
}

// leaks are descriptors and goroutines that were not there before; they have some time to go.
func leaks(files map[string]string, goroutines int) []string {
	var found []string
	for range 60 {
		found = nil
		for name, target := range openFiles() {
			if _, before := files[name]; !before {
				found = append(found, "descriptor "+name+": "+target)
			}
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			stacks := make([]byte, 64<<10)
			found = append(found, fmt.Sprintf("%d goroutines, %d before:\n%s", n, goroutines, stacks[:runtime.Stack(stacks, true)]))
		}
		if len(found) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return found
}

// openFiles are this process's descriptors with what they are.
func openFiles() map[string]string {
	files := map[string]string{}
	names, _ := os.ReadDir("/proc/self/fd")
	for _, n := range names {
		if target, err := os.Readlink("/proc/self/fd/" + n.Name()); err == nil && target != "/proc/"+strconv.Itoa(os.Getpid())+"/fd" {
			files[n.Name()] = target
		}
	}
	return files
}

// peakMemory is the highest resident set of this process in bytes (VmHWM of proc_pid_status(5)).
func peakMemory() int64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kilobytes, _ := strconv.ParseInt(fields[0], 10, 64)
	return kilobytes << 10
}

// The disks that a run can be given, in a mount namespace of its process.
const (
	mountJournal  = "full disk under the run"
	mountLogs     = "full disk under the logs"
	mountReadOnly = "read-only disk"
)

// mount mounts the disk that the job asks for.
func (j job) mount() error {
	where := j.Dir
	size := fmt.Sprintf("size=%d", j.Pages*os.Getpagesize())
	switch j.Mount {
	case "":
		return nil
	case mountLogs:
		where = filepath.Join(j.Dir, "logs")
	case mountReadOnly:
		where, size = filepath.Dir(j.Dir), "size=1M"
	}
	if err := os.MkdirAll(where, 0o777); err != nil {
		return err
	}
	var flags uintptr
	if j.Mount == mountReadOnly {
		flags = unix.MS_RDONLY
	}
	return unix.Mount("tmpfs", where, "tmpfs", flags, size)
}

// afterFull makes room and goes on.
func (j job) afterFull(ctx context.Context) error {
	where := j.Dir
	if j.Mount == mountLogs {
		where = filepath.Join(j.Dir, "logs")
	}
	if err := unix.Mount("tmpfs", where, "tmpfs", unix.MS_REMOUNT, "size=64M"); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(j.Dir, harness.JournalName))
	j.Resume = err == nil && info.Size() > 0
	return j.run(ctx)
}

// keepJournal copies the journal to where it can be seen from outside of the mount namespace.
func (j job) keepJournal() {
	if content, err := os.ReadFile(filepath.Join(j.Dir, harness.JournalName)); err == nil {
		_ = os.WriteFile(filepath.Join(j.Fault.State, harness.JournalName), content, 0o666)
	}
}

// counterOf is the counter that the limit of a kind holds.
func counterOf(k *kind) string {
	if k.resident {
		return protocol.Resident
	}
	return protocol.Simulated
}
