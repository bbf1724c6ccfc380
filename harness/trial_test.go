//go:build unix

package harness_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"autotune/harness"
	"autotune/tuner"
)

// TestTrialEnds runs one trial that ends in each way that there is.
func TestTrialEnds(t *testing.T) {
	for _, c := range []struct {
		script string // of micro-batch 8
		status tuner.Status
		kind   string // of the failure; empty: none
		text   string // in the failure's text
	}{
		{"", tuner.OK, "", ""},
		{"nan", tuner.Diverged, "", ""},
		{"samples", tuner.Invalid, "", ""},
		{"steps", tuner.Invalid, "", ""},
		{"miscount", tuner.Invalid, "", ""},
		{"no-counter", tuner.Invalid, "", ""},
		{"print-much", tuner.OK, "", ""},
		{"fail the frobnicator broke", tuner.Crashed, "FakeError", "the frobnicator broke"},
		{"fail CUDA out of memory. Tried to allocate 2.00 MiB.", tuner.OOM, "FakeError", "CUDA out of memory"},
		{"fail-as wrong_batch a batch had 3 samples, not 8", tuner.Invalid, "wrong_batch", "3 samples, not 8"},
		{"fail-as ValueError Expected more than 1 value per channel when training", tuner.Crashed, "ValueError", "1 value per channel"},
		{"fail-over", tuner.OOM, "*errors.errorString", "over the limit"},
		{"panic index out of range", tuner.Crashed, "panic", "index out of range"},
		{"exit 3", tuner.Crashed, harness.FailureExit, "exit code 3\ntrial 1 prints\nthe last words"},
		{"exit 0", tuner.Crashed, harness.FailureExit, "exit code 0"},
		{"crash-text fatal error: runtime: out of memory", tuner.OOM, harness.FailureExit, "out of memory"},
		{"terminate", tuner.Crashed, harness.FailureExit, "signal SIGTERM"},
		{"say garbage", tuner.Invalid, harness.FailureProtocol, "not a JSON object of the protocol"},
		{`say {"v":1,"op":"dance"}`, tuner.Invalid, harness.FailureProtocol, "unknown operation"},
		{`say {"v":3,"op":"done"}`, tuner.Invalid, harness.FailureProtocol, "version 3"},
		{`say {"v":1,"op":"trial"}`, tuner.Invalid, harness.FailureProtocol, "said trial in the middle of a trial"},
		{"long-line", tuner.Invalid, harness.FailureProtocol, "longer than 1048576 bytes"},
		{"close", tuner.Invalid, harness.FailureProtocol, "closed its pipe"},
		{"backwards", tuner.Invalid, harness.FailureProtocol, "-1 seconds"},
		{"late-warmup", tuner.Invalid, harness.FailureProtocol, "warm-up step"},
		{"child die", tuner.Crashed, harness.FailureExit, "exit code 7"},
	} {
		name, _, _ := strings.Cut(c.script, "{")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run, record := one(t, c.script, benchSettings("8"))
			if got := run.Judged()[0].Status; got != c.status {
				t.Errorf("judged %q, want %q: %+v", got, c.status, record.Failure)
			}
			kind, text := "", ""
			if record.Failure != nil {
				kind, text = record.Failure.Type, record.Failure.Text
			}
			if kind != c.kind || !strings.Contains(text, c.text) {
				t.Errorf("failure %q: %.200q, want %q: %q", kind, text, c.kind, c.text)
			}
			if log := readFile(t, filepath.Join(run.Dir, "logs", "trial-1.log")); !strings.Contains(log, "trial 1 prints") {
				t.Errorf("the log holds %.200q", log)
			}
		})
	}
}

// one runs one trial of micro-batch 8, and checks that the journal holds what the run does.
func one(t *testing.T, script string, s harness.Settings) (*harness.Run, harness.TrialRecord) {
	t.Helper()
	w := workload("8=" + script)
	run, _ := harness.Bench(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w})
	if run == nil || len(run.Trials) != 1 {
		t.Fatalf("run %+v", run)
	}
	read, err := harness.ReadRun(run.Dir)
	if err != nil || len(read.Trials) != 1 || read.Judged()[0].Status != run.Judged()[0].Status {
		t.Fatalf("read %+v, %v", read, err)
	}
	return run, run.Trials[0]
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestTrialRecord checks what is recorded of a trial that went well.
func TestTrialRecord(t *testing.T) {
	run, r := one(t, "", benchSettings("8"))
	if len(r.WarmupSeconds) != r.WarmupSteps || len(r.StepSeconds) != r.Steps || r.StepsRun != r.WarmupSteps+r.Steps ||
		len(r.Losses) != r.StepsRun || len(r.Samples) != r.StepsRun || *r.Losses[0] != 1 || r.Samples[0] != 8 {
		t.Errorf("steps: %+v", r)
	}
	if r.Number != 1 || r.Worker != 1 || r.Repeat != 1 || r.WallSeconds <= 0 || r.HarnessCPUSeconds < 0 || r.Started.IsZero() {
		t.Errorf("the trial's frame: %+v", r)
	}
	judged := run.Judged()[0]
	if judged.PeakBytes != 28*MB || judged.Config != r.Config || len(judged.StepSeconds) != r.Steps {
		t.Errorf("judged %+v", judged)
	}
}

// TestDeviceTimes checks what a worker with a device's clock and a loss scaler reports.
func TestDeviceTimes(t *testing.T) {
	_, r := one(t, "device", benchSettings("8"))
	if len(r.DeviceSeconds) != len(r.StepSeconds) || r.DeviceSeconds[0] != r.StepSeconds[0]/2 || r.SkippedSteps != 1 {
		t.Errorf("device seconds %v of %v, %d skipped", r.DeviceSeconds, r.StepSeconds, r.SkippedSteps)
	}
}

// TestReasonOfAWrongBatch checks that the reason has both figures.
func TestReasonOfAWrongBatch(t *testing.T) {
	run, r := one(t, "fail-as wrong_batch a batch had 3 samples, not 8", benchSettings("8"))
	if _, why := harness.Judge(run.Header, nil, r); !strings.Contains(why, "3 samples, not 8") {
		t.Errorf("the reason is %q", why)
	}
}

func TestTrialDeadline(t *testing.T) {
	for script, phases := range map[string][]string{"hang": {"build"}, "hang-later": {"build", "warmup"}} { // before the first step, on a slow machine
		t.Run(script, func(t *testing.T) {
			t.Parallel()
			s := benchSettings("8")
			s.TrialTimeout = 1
			run, r := one(t, script, s)
			if run.Judged()[0].Status != tuner.Timeout || r.Failure.Type != harness.FailureDeadline || !slices.Contains(phases, r.Failure.Phase) {
				t.Errorf("failure %+v", r.Failure)
			}
		})
	}
}

// TestKilledWorker has a worker that somebody killed, which counts as memory only
// where the kernel says that it killed, and a smaller size ran.
func TestKilledWorker(t *testing.T) {
	run, r := one(t, "kill", benchSettings("8"))
	if r.Failure == nil || r.Failure.Signal != "SIGKILL" {
		t.Fatalf("failure %+v", r.Failure)
	}
	ran := []tuner.Trial{{Config: tuner.Config{Precision: "fp32", MicroBatch: 4, Accumulation: 1}, Status: tuner.OK}}
	kills := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name    string
		earlier []tuner.Trial
		kills   *int64
		want    tuner.Status
	}{
		{"kernel killed, smaller ran", ran, kills(2), tuner.OOM},
		{"kernel killed, nothing ran", nil, kills(1), tuner.Crashed},
		{"unknown, smaller ran", ran, nil, tuner.OOM},
		{"somebody else killed", ran, kills(0), tuner.Crashed},
	} {
		r.Failure.KernelKills, r.SeenPeakBytes = c.kills, 0
		if got, why := harness.Judge(run.Header, c.earlier, r); got.Status != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, got.Status, why, c.want)
		}
	}
}

// TestNothingIsLeftBehind looks for the worker and for a process that it left in its group.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, script := range []string{"child", "child die", "hang"} {
		t.Run(script, func(t *testing.T) {
			notes := filepath.Join(t.TempDir(), "pids")
			w := workload("8=" + script)
			w.Env = append(w.Env, notesFile+"="+notes)
			s := benchSettings("8")
			if script == "hang" {
				s.TrialTimeout = 0.5
			}
			if _, err := harness.Bench(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w}); (err == nil) != (script == "child") {
				t.Error(err)
			}
			waitForEnd(t, pids(t, notes))
		})
	}
}

// TestPanicLeavesNothingBehind is a failure of the caller in the middle of a trial.
func TestPanicLeavesNothingBehind(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "pids")
	w := workload("8=")
	w.Env = append(w.Env, notesFile+"="+notes)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = harness.Bench(context.Background(), harness.Options{
			Dir: t.TempDir(), Plan: plan(t, benchSettings("8"), w), Workload: w,
			Events: &events{trialEnd: func(harness.TrialRecord, tuner.Status) { panic("the terminal is gone") }},
		})
	}()
	waitForEnd(t, pids(t, notes))
}

// pids are the process ids that the workers left.
func pids(t *testing.T, notes string) []int {
	t.Helper()
	var ids []int
	for _, word := range strings.Fields(readFile(t, notes)) {
		id, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		t.Fatal("no process left its id")
	}
	return ids
}

// waitForEnd fails the test where a process goes on living.
func waitForEnd(t *testing.T, ids []int) {
	t.Helper()
	for _, id := range ids {
		for patience := 200; lives(id); patience-- {
			if patience == 0 {
				t.Errorf("process %d lives", id)
				_ = syscall.Kill(id, syscall.SIGKILL)
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// lives says whether a process exists and is more than a zombie.
func lives(id int) bool {
	if syscall.Kill(id, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	return err != nil && !errors.Is(err, os.ErrNotExist) || err == nil && !strings.Contains(string(stat), ") Z")
}

func TestWorkerThatDoesNotStart(t *testing.T) {
	for _, c := range []struct {
		script, text string
		status       tuner.Status
	}{
		{"hang", "had not said ready", tuner.Timeout},
		{"exit 9", "exit code 9", tuner.Crashed},
		{"say hello", "not a JSON object", tuner.Invalid},
		{`say {"v":1,"op":"done"}`, "first message was done, not ready", tuner.Invalid},
		{`say {"v":1,"op":"failed","type":"NoDevice","phase":"start","text":"no GPU here"}`, "no GPU here", tuner.Crashed},
	} {
		t.Run(c.script, func(t *testing.T) {
			t.Parallel()
			w := workload()
			w.Env = append(w.Env, startScript+"="+c.script)
			w.StartTimeout = 500 * time.Millisecond
			if c.script != "hang" {
				w.StartTimeout = 20 * time.Second
			}
			run, err := harness.Bench(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, benchSettings("1..8"), w), Workload: w})
			if !errors.Is(err, harness.ErrNoEngine) || !strings.Contains(err.Error(), c.text) || !strings.Contains(err.Error(), "trial-2.log") {
				t.Errorf("error %v", err)
			}
			if judged := run.Judged(); len(judged) != 2 || judged[0].Status != c.status || run.Trials[0].Failure.Phase != "start" {
				t.Errorf("judged %+v", judged)
			}
		})
	}
}

// TestWorkerThatDoesNotStartAndIsHeldOpen does not wait for a worker that died while another process holds its pipes.
func TestWorkerThatDoesNotStartAndIsHeldOpen(t *testing.T) {
	notes := filepath.Join(t.TempDir(), "pids")
	w := workload()
	w.Env = append(w.Env, startScript+"=daemon", notesFile+"="+notes)
	w.StartTimeout = 10 * time.Minute
	run, err := harness.Bench(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, benchSettings("1..8"), w), Workload: w})
	for _, id := range pids(t, notes) {
		_ = syscall.Kill(id, syscall.SIGKILL)
	}
	if !errors.Is(err, harness.ErrNoEngine) || run.Judged()[0].Status != tuner.Crashed {
		t.Errorf("error %v, judged %+v", err, run.Judged())
	}
}

// TestAnswerTooMuch replaces a worker that answers a trial twice: the trials after it are not hurt.
func TestAnswerTooMuch(t *testing.T) {
	w := workload("8=twice")
	s := tuneSettings()
	s.Batch = "1..128"
	run, err := harness.Tune(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w})
	if err != nil {
		t.Fatal(err)
	}
	bad := 0
	for _, trial := range run.Judged() {
		if trial.Status != tuner.OK && trial.Status != tuner.OOM {
			bad++
		}
	}
	if bad != 1 || run.Trials[0].Worker == run.Trials[1].Worker || run.Recommendation.MicroBatch != 80 {
		t.Errorf("judged %+v, recommended %d", run.Judged(), run.Recommendation.MicroBatch)
	}
}

func TestWorkerProgramIsMissing(t *testing.T) {
	w := workload()
	w.Command = []string{filepath.Join(t.TempDir(), "nothing")}
	run, err := harness.Bench(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, benchSettings("8"), w), Workload: w})
	var coded interface{ ExitCode() int }
	if !errors.As(err, &coded) || coded.ExitCode() != harness.ExitNoDevice || len(run.Trials) != 0 {
		t.Errorf("error %v, %d trials", err, len(run.Trials))
	}
}
