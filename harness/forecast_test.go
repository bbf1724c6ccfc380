//go:build unix

package harness_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"autotune/harness"
	"autotune/tuner"

	"github.com/google/go-cmp/cmp"
)

// foreseeing is the fake engine that predicts as its script says.
func foreseeing(script ...string) harness.Workload {
	w := workload(script...)
	w.Predicts = true
	return w
}

// sizesOf are the sizes of a run's trials before the soak, in their order.
func sizesOf(run *harness.Run) string {
	var sizes []string
	for _, r := range run.Trials {
		if r.Purpose == tuner.Fit {
			sizes = append(sizes, fmt.Sprint(r.MicroBatch))
		}
	}
	return strings.Join(sizes, " ")
}

// TestTuneWithForecast proves the border of 80 in three trials.
func TestTuneWithForecast(t *testing.T) {
	w, seen := foreseeing(), &events{}
	run, err := harness.Tune(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, tuneSettings(), w), Workload: w, Events: seen})
	if err != nil {
		t.Fatal(err)
	}
	if got := sizesOf(run); got != "10 80 81" || run.Recommendation.MicroBatch != 80 || len(seen.notes) > 0 {
		t.Errorf("tried %s, recommended %d, notes %q", got, run.Recommendation.MicroBatch, seen.notes)
	}
	if len(run.Forecasts) != 1 {
		t.Fatalf("forecasts %+v", run.Forecasts)
	}
	f := run.Forecasts[0]
	want := tuner.Forecast{Set: tuner.Set{Precision: "fp32"}, Accumulation: 1, Lines: []tuner.ForecastLine{{Fixed: 20 * MB, PerSample: MB}}}
	if diff := cmp.Diff(want, f.Forecast); diff != "" || f.Counter != "resident" || f.Failure != nil || f.WallSeconds <= 0 {
		t.Errorf("the record is %+v: %s", f, diff)
	}
	if run.Trials[0].Worker != 1 || run.Trials[1].Worker != 1 {
		t.Error("the worker that predicted did not run the trials")
	}
	logs := filepath.Join(run.Dir, "logs") // what arrives after the answer is in the next log
	if log := readFile(t, filepath.Join(logs, "forecast-1.log")) + readFile(t, filepath.Join(logs, "trial-1.log")); !strings.Contains(log, "a prediction prints") {
		t.Errorf("the logs hold %q", log)
	}
	read, err := harness.ReadRun(run.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(run, read); diff != "" {
		t.Errorf("what was returned and what was written differ:\n%s", diff)
	}
}

// TestForecastsThatFail goes on without, says so once, and finds the border.
func TestForecastsThatFail(t *testing.T) {
	for _, c := range []struct{ script, text string }{
		{"fail the loss depends on data\nTraceback", "cannot be predicted (the loss depends on data)"},
		{"exit 3", "exit code 3"},
		{"panic", ""}, // an unknown word: it predicts
		{"hang", "the prediction had not ended after 3 s"},
		{`say {"v":1,"op":"predicted","counter":"resident","lines":[]}`, "predicted 0 lines"},
	} {
		name, _, _ := strings.Cut(c.script, "{")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tuneSettings()
			s.Precision = []string{"fp32", "fp64"}
			if c.script == "hang" {
				s.TrialTimeout = 3 // which the trials after it must keep too
			}
			w, seen := foreseeing("predict="+c.script), &events{}
			run, err := harness.Tune(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w, Events: seen})
			if err != nil || run.Recommendation.MicroBatch != 80 || len(run.Forecasts) != 2 {
				t.Fatalf("run %+v: %v", run, err)
			}
			if c.text == "" {
				return
			}
			if f := run.Forecasts[0]; f.Failure == nil || len(f.Lines) > 0 || f.Counter != "" {
				t.Errorf("forecast %+v", f)
			}
			said := 0
			for _, note := range seen.notes {
				if strings.Contains(note, "the search goes on without") {
					said++
				}
			}
			if said != 1 || !seen.noted(c.text) {
				t.Errorf("notes %q", seen.notes)
			}
		})
	}
}

// TestInterruptedForecast stops a run while memory is predicted; the run goes on from there.
func TestInterruptedForecast(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	dir := t.TempDir()
	w := foreseeing("predict=hang")
	time.AfterFunc(300*time.Millisecond, cancel)
	run, err := harness.Tune(ctx, harness.Options{Dir: dir, Plan: plan(t, tuneSettings(), w), Workload: w})
	if exitCode(err) != harness.ExitInterruption || len(run.Forecasts)+len(run.Trials) != 0 {
		t.Fatalf("run %+v: %v", run, err)
	}
	run, err = harness.Resume(context.Background(), harness.Options{Dir: dir, Workload: foreseeing()})
	if err != nil || len(run.Forecasts) != 1 || sizesOf(run) != "10 80 81" {
		t.Errorf("resumed to %+v: %v", run, err)
	}
}

// TestOneSizeThatFails has batch normalisation, which fails at size 1, where the search begins.
func TestOneSizeThatFails(t *testing.T) {
	for _, predicts := range []bool{true, false} {
		w := workload("1=fail-as ValueError Expected more than 1 value per channel when training, got input size torch.Size([1, 64])")
		w.Predicts = predicts
		s := tuneSettings()
		s.MemoryLimit = "28MiB" // a border of 8
		run, err := harness.Tune(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w})
		if err != nil || run.Recommendation.MicroBatch != 8 || run.Recommendation.Largest[0].FailedTrial == nil {
			t.Fatalf("predicts %v: run %+v: %v", predicts, run, err)
		}
		if predicts && run.Judged()[0].Status != tuner.Crashed {
			t.Errorf("the first trial is %+v", run.Judged()[0])
		}
	}
}

// TestUsage ends a run in which the model cannot be found, at once and with its text.
func TestUsage(t *testing.T) {
	const text = "torchvision has no model resnet19\ndid you mean resnet18?"
	for _, c := range []struct {
		name   string
		change func(*harness.Workload)
		trials int
	}{
		{"at the first trial", func(w *harness.Workload) { w.Options["8"] = "fail-as usage " + text }, 1},
		{"at the start", func(w *harness.Workload) {
			w.Env = append(w.Env, startScript+`=say {"v":1,"op":"failed","type":"usage","phase":"start","text":"torchvision has no model resnet19\ndid you mean resnet18?"}`)
		}, 1},
	} {
		w := workload()
		c.change(&w)
		run, err := harness.Tune(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, tuneSettings(), w), Workload: w})
		if exitCode(err) != harness.ExitUsage || err.Error() != text || len(run.Trials) != c.trials {
			t.Errorf("%s: %d trials, error %v", c.name, len(run.Trials), err)
		}
	}
}

// TestBrokenProcess replaces a worker whose device cannot compute any more.
func TestBrokenProcess(t *testing.T) {
	w, seen := workload("8=fail CUDA error: device-side assert triggered"), &events{}
	if _, err := harness.Tune(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, tuneSettings(), w), Workload: w, Events: seen}); err != nil {
		t.Fatal(err)
	}
	if seen.workers[0] != 1 || seen.workers[1] != 2 || seen.workers[2] != 2 {
		t.Errorf("workers %v", seen.workers)
	}
}
