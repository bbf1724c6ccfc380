//go:build unix

package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"autotune/harness"
	"autotune/tuner"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// exitCode is the code of an error; 0 for none.
func exitCode(err error) int {
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return 0
}

// TestTune finds the largest size of the fake engine: 20 MB and 1 MB a sample in 100 MB.
func TestTune(t *testing.T) {
	w, seen := workload(), &events{}
	p := plan(t, tuneSettings(), w)
	run, err := harness.Tune(context.Background(), harness.Options{Dir: t.TempDir(), Plan: p, Workload: w, Events: seen})
	if err != nil {
		t.Fatal(err)
	}
	r := run.Recommendation
	if r.MicroBatch != 80 || r.GlobalBatch != 80 || r.PeakBytes != 100*MB || *r.Headroom != 0 || !r.Soaked || r.Trials != len(run.Trials) {
		t.Errorf("recommendation %+v", r)
	}
	if len(r.Largest) == 0 || r.Largest[0].MicroBatch != 80 || r.Largest[0].FailedTrial == nil {
		t.Errorf("borders %+v", r.Largest)
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), "recipe's is 32: the learning rate has to follow") {
		t.Errorf("notes %q", r.Notes)
	}
	if seen.begun != 1 || len(seen.numbers) != len(run.Trials) || len(seen.statuses) != len(run.Trials) {
		t.Errorf("events %+v", seen)
	}
	read, err := harness.ReadRun(run.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run, read); diff != "" {
		t.Errorf("what was returned and what was written differ:\n%s", diff)
	}
}

func TestTuneNothingFits(t *testing.T) {
	w := workload()
	s := tuneSettings()
	s.MemoryLimit = "15MiB"
	run, err := harness.Tune(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w})
	if !errors.Is(err, harness.ErrNothingFits) || exitCode(err) != harness.ExitNothingFits || !strings.Contains(err.Error(), "nothing fits in the memory limit of 15 MiB; the smallest peak seen was 21 MiB (trial ") {
		t.Errorf("error %v", err)
	}
	if run == nil || run.Recommendation != nil {
		t.Errorf("run %+v", run)
	}
}

// TestBenchIsInterleaved checks the order of repeats, fresh workers, and that a failure is not repeated.
func TestBenchIsInterleaved(t *testing.T) {
	w, seen := workload("4=fail it broke"), &events{}
	s := benchSettings("2,4,8")
	s.Repeat = 3
	run, err := harness.Bench(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w, Events: seen})
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for i, r := range run.Trials {
		order = append(order, fmt.Sprintf("%d.%d", r.MicroBatch, r.Repeat))
		if r.Worker != i+1 {
			t.Errorf("trial %d ran on worker %d", r.Number, r.Worker)
		}
	}
	if got, want := strings.Join(order, " "), "2.1 4.1 8.1 2.2 8.2 2.3 8.3"; got != want {
		t.Errorf("ran %s, want %s", got, want)
	}
	if got := fmt.Sprint(seen.left); got != "[9 8 5 4 3 2 1]" {
		t.Errorf("trials left %s", got)
	}
}

func TestBenchEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		script []string
		change func(*harness.Settings)
		code   int
		trials int
	}{
		{"one ran", []string{"2=exit 1"}, nil, 0, 3},
		{"all over the limit", nil, func(s *harness.Settings) { s.MemoryLimit = "15MiB" }, harness.ExitNothingFits, 2},
		{"all failed", []string{"2=exit 1", "4=nan"}, nil, harness.ExitFailed, 2},
		{"bound by trials", nil, func(s *harness.Settings) { s.MaxTrials = 3 }, 0, 3},
		{"bound by time", nil, func(s *harness.Settings) { s.MaxTime = 1e-9 }, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := benchSettings("2,4")
			s.Repeat = 2
			if c.change != nil {
				c.change(&s)
			}
			w, seen := workload(c.script...), &events{}
			run, err := harness.Bench(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w, Events: seen})
			if exitCode(err) != c.code || (err == nil) != (c.code == 0) || len(run.Trials) != c.trials {
				t.Errorf("%d trials, error %v", len(run.Trials), err)
			}
			if bounded := strings.HasPrefix(c.name, "bound"); bounded != seen.noted("not run") {
				t.Errorf("notes %q", seen.notes)
			}
		})
	}
}

// TestWorkersServeManyTrials checks when a worker is kept and when it is replaced.
func TestWorkersServeManyTrials(t *testing.T) {
	for _, c := range []struct {
		name   string
		script []string
		kept   bool
		note   string
	}{
		{"kept", nil, true, ""},
		{"peaks cannot be reset", []string{"reset=no"}, false, "cannot set a process's peak memory back"},
		{"memory does not come back", []string{"leak=17"}, false, "memory did not come back"},
		{"memory is kept", []string{"keep=17"}, false, "Worker 1 held 17 MiB after trial 1 and 0 B before its first"},
		{"memory is kept after a failure", []string{"keep=17", "8=fail-as torch.OutOfMemoryError no room"}, false, "Worker 1 held 17 MiB after trial 1"},
		{"a little memory is kept", []string{"keep=16"}, true, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, seen := workload(c.script...), &events{}
			run, err := harness.Tune(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, tuneSettings(), w), Workload: w, Events: seen})
			if err != nil {
				t.Fatal(err)
			}
			last := 0
			for _, r := range run.Trials {
				if r.Purpose != tuner.Soak {
					last = r.Worker
				}
			}
			if (last == 1) != c.kept {
				t.Errorf("workers %v", seen.workers)
			}
			if c.note != "" != (len(seen.notes) > 0) || !seen.noted(c.note) {
				t.Errorf("notes %q", seen.notes)
			}
		})
	}
}

func TestUnsupportedPrecision(t *testing.T) {
	w := workload()
	w.Precisions = []string{"fp32", "bf16"} // more than the worker can
	s := benchSettings("8")
	s.Precision = []string{"bf16"}
	run, err := harness.Bench(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w})
	if exitCode(err) != harness.ExitFailed || run.Judged()[0].Status != tuner.Unsupported {
		t.Errorf("error %v, judged %+v", err, run.Judged())
	}
}

// times are the fields that differ between two runs of the same trials.
var times = cmp.Options{
	cmpopts.IgnoreFields(harness.TrialRecord{}, "Started", "WallSeconds", "HarnessCPUSeconds", "SeenPeakBytes", "Worker"),
	cmpopts.IgnoreFields(harness.Recommendation{}, "WallSeconds"),
	cmpopts.IgnoreFields(harness.ForecastRecord{}, "WallSeconds"),
	cmpopts.IgnoreFields(harness.Header{}, "Created"),
	cmpopts.IgnoreFields(harness.Run{}, "Dir"),
}

// TestResumeGivesTheSameRun cuts a finished journal after each of its lines, and
// within the next, and resumes: with forecasts and without.
func TestResumeGivesTheSameRun(t *testing.T) {
	for _, script := range [][]string{nil, {"predict=off 1.3"}, {"predict=fail no shapes"}} {
		w := workload(script...)
		w.Predicts = len(script) > 0
		resumeEverywhere(t, w)
	}
}

func resumeEverywhere(t *testing.T, w harness.Workload) {
	t.Helper()
	whole, err := harness.Tune(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, tuneSettings(), w), Workload: w})
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter([]byte(readFile(t, filepath.Join(whole.Dir, harness.JournalName))), []byte("\n"))
	lines = lines[:len(lines)-1]
	for kept := 1; kept <= len(lines); kept++ {
		torn := ""
		if kept < len(lines) && kept%2 == 0 {
			torn = string(lines[kept][:len(lines[kept])/2])
		}
		before := string(bytes.Join(lines[:kept], nil))
		dir := t.TempDir()
		write(t, dir, before+torn)
		seen := &events{}
		run, err := harness.Resume(context.Background(), harness.Options{Dir: dir, Workload: w, Events: seen})
		if err != nil {
			t.Fatalf("%d lines kept: %v", kept, err)
		}
		if diff := cmp.Diff(whole, run, times); diff != "" {
			t.Errorf("%d lines kept: the resumed run differs:\n%s", kept, diff)
		}
		if after := readFile(t, filepath.Join(dir, harness.JournalName)); !strings.HasPrefix(after, before) {
			t.Errorf("%d lines kept: what was there has changed", kept)
		}
		if seen.noted("cut off") != (torn != "") {
			t.Errorf("%d lines kept: notes %q", kept, seen.notes)
		}
		if ran := len(seen.numbers); ran != len(whole.Trials)-strings.Count(before, `"record":"trial"`) {
			t.Errorf("%d lines kept: %d trials ran", kept, ran)
		}
	}
}

// write makes a run's folder with a journal.
func write(t *testing.T, dir, journal string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(dir, "logs"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, harness.JournalName), []byte(journal), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestInterruptAndResume(t *testing.T) {
	w := workload("4=hang")
	ctx, cancel := context.WithCancel(context.Background())
	dir := t.TempDir()
	seen := &events{onBegin: func(number int) {
		if number == 2 {
			time.AfterFunc(200*time.Millisecond, cancel)
		}
	}}
	s := benchSettings("2,4,8")
	run, err := harness.Bench(ctx, harness.Options{Dir: dir, Plan: plan(t, s, w), Workload: w, Events: seen})
	if exitCode(err) != harness.ExitInterruption || !strings.Contains(err.Error(), "autotune resume "+dir) {
		t.Errorf("error %v", err)
	}
	if len(run.Trials) != 2 || run.Judged()[1].Status != tuner.Interrupted {
		t.Fatalf("judged %+v", run.Judged())
	}
	if err := os.RemoveAll(filepath.Join(dir, "logs")); err != nil { // it is not needed to go on
		t.Fatal(err)
	}
	resumed, err := harness.Resume(context.Background(), harness.Options{Dir: dir, Workload: workload()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, trial := range resumed.Judged() {
		got = append(got, fmt.Sprintf("%d:%d:%s", trial.Number, trial.MicroBatch, trial.Status))
	}
	if want := "1:2:ok 2:4:interrupted 3:4:ok 4:8:ok"; strings.Join(got, " ") != want {
		t.Errorf("judged %v, want %s", got, want)
	}
	if again := resumed.Trials[2]; again.Repeat != 1 || again.Worker != 3 {
		t.Errorf("the trial run again is repeat %d on worker %d", again.Repeat, again.Worker)
	}
	stopped, stop := context.WithCancel(context.Background())
	stop()
	if _, err := harness.Bench(stopped, harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w}); exitCode(err) != harness.ExitInterruption {
		t.Errorf("stopped before its first trial: %v", err)
	}
}

// runHarness is a harness of its own process, to be killed: it runs the bench
// that the folder's plan.json describes.
func runHarness() int {
	var o harness.Options
	dir := os.Args[1]
	content, err := os.ReadFile(filepath.Join(dir, "options.json"))
	if err == nil {
		err = json.Unmarshal(content, &o)
	}
	if err == nil {
		o.Dir = filepath.Join(dir, "run")
		_, err = harness.Bench(context.Background(), o)
	}
	fmt.Fprintln(os.Stderr, err)
	return exitCode(err)
}

// TestKilledHarness kills the harness in the middle of a step: its worker ends,
// and the run goes on from the journal.
func TestKilledHarness(t *testing.T) {
	dir := t.TempDir()
	notes := filepath.Join(dir, "pids")
	w := workload("4=hang")
	w.Env = append(w.Env, notesFile+"="+notes)
	s := benchSettings("2,4,8")
	s.TrialTimeout = 600
	options, err := json.Marshal(harness.Options{Plan: plan(t, s, w), Workload: w})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "options.json"), options, 0o666); err != nil {
		t.Fatal(err)
	}
	killed := exec.Command(os.Args[0], dir)
	killed.Env = append(os.Environ(), roleVariable+"=harness")
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "run", "logs", "trial-2.log")
	for patience := 400; ; patience-- {
		if content, _ := os.ReadFile(log); len(content) > 0 {
			break
		}
		if patience == 0 {
			t.Fatal("the second trial did not begin")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if _, err := harness.Resume(context.Background(), harness.Options{Dir: filepath.Join(dir, "run"), Workload: w}); exitCode(err) != harness.ExitUsage || !strings.Contains(err.Error(), "another autotune is running") {
		t.Errorf("a second run in the folder: %v", err)
	}
	_ = killed.Process.Kill()
	_ = killed.Wait()
	waitForEnd(t, pids(t, notes))
	run, err := harness.Resume(context.Background(), harness.Options{Dir: filepath.Join(dir, "run"), Workload: workload()})
	if err != nil || len(run.Trials) != 3 {
		t.Fatalf("resumed to %+v: %v", run, err)
	}
}

// TestBatchNormNote checks that accumulation on a model with batch normalisation is remarked on, and only that.
func TestBatchNormNote(t *testing.T) {
	for _, c := range []struct {
		batchNorm   bool
		globalBatch string
		noted       bool
	}{{true, "160", true}, {true, "80", false}, {false, "160", false}} {
		w, s := workload(), tuneSettings()
		w.Facts.BatchNorm, s.GlobalBatch = c.batchNorm, c.globalBatch
		s.Batch = "80"
		run, err := harness.Tune(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w})
		if err != nil {
			t.Fatal(err)
		}
		if noted := strings.Contains(strings.Join(run.Recommendation.Notes, "\n"), "batch normalisation"); noted != c.noted {
			t.Errorf("%+v: notes %q", c, run.Recommendation.Notes)
		}
	}
}
