//go:build unix

package harness_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"autotune/harness"

	"github.com/google/go-cmp/cmp"
)

// card is a workload on a device of 16 GiB of its own.
func card() harness.Workload {
	w, free := workload(), int64(16<<30)
	w.Device, w.DeviceBytes, w.LimitOn, w.LimitOnNone = "cuda:0", &free, "reserved", "allocated"
	w.DeviceBusy, w.Versions = "process 7 holds 2 GiB of it", map[string]string{"torch": "2.11"}
	w.WarmupSteps, w.Predicts, w.Notes = 2, true, []string{"A note."}
	return w
}

func TestPlanOnADevice(t *testing.T) {
	for _, c := range []struct {
		limit, on, source string
		bytes             int64 // 0: none
		notes             int
	}{
		{"", "reserved", "default: what cuda:0 has free", 16 << 30, 1},
		{"50%", "reserved", "50% of the 16 GiB that cuda:0 has free", 8 << 30, 1},
		{"12GiB", "reserved", "--memory-limit", 12 << 30, 1}, // more than the host has available
		{"20GiB", "reserved", "--memory-limit", 20 << 30, 2},
		{"none", "allocated", "only a real failure", 0, 1},
	} {
		p := plan(t, settings(func(s *harness.Settings) { s.MemoryLimit = c.limit }), card())
		h := p.Header
		if value(h.LimitBytes) != c.bytes || h.LimitOn != c.on || !strings.Contains(h.LimitSource, c.source) || len(p.Notes) != c.notes || p.Notes[0] != "A note." {
			t.Errorf("limit %q: %d on %s (%s), notes %q", c.limit, value(h.LimitBytes), h.LimitOn, h.LimitSource, p.Notes)
		}
		if h.DeviceBusy == "" || h.Versions["torch"] != "2.11" || p.Space.WarmupSteps != 2 || !p.Space.Predicts {
			t.Errorf("header %+v, space %+v", h, p.Space)
		}
	}
	if p := plan(t, benchSettings("4"), card()); p.Header.Predicts {
		t.Error("bench predicts")
	}
}

// TestResumedPlan checks that a resumed run has the plan that it began with, and says what has changed.
func TestResumedPlan(t *testing.T) {
	dir := t.TempDir()
	w := foreseeing()
	w.WarmupSteps, w.Versions = 2, map[string]string{"torch": "2.11"}
	ctx, cancel := context.WithCancel(context.Background())
	seen := &events{onBegin: func(number int) {
		if number == 2 {
			cancel()
		}
	}}
	run, err := harness.Tune(ctx, harness.Options{Dir: dir, Plan: plan(t, tuneSettings(), w), Workload: w, Events: seen})
	if exitCode(err) != harness.ExitInterruption || run.Trials[0].WarmupSteps != 2 || run.Trials[0].Steps != 1 {
		t.Fatalf("run %+v: %v", run, err)
	}
	w.WarmupSteps, w.Predicts, w.Versions = 1, false, map[string]string{"torch": "2.15"}
	w.Notes = []string{"A note."}
	seen = &events{}
	run, err = harness.Resume(context.Background(), harness.Options{Dir: dir, Workload: w, Events: seen})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range run.Trials {
		if r.WarmupSteps != 2 {
			t.Errorf("trial %d has %d warm-up steps", r.Number, r.WarmupSteps)
		}
	}
	if len(run.Forecasts) != 1 || !seen.noted("began with torch 2.11 and goes on with 2.15") || !seen.noted("A note.") {
		t.Errorf("forecasts %+v, notes %q", run.Forecasts, seen.notes)
	}
}

// usageError is an error with an exit code of its own.
type usageError struct{ error }

func (usageError) ExitCode() int { return harness.ExitNoDevice }

// TestPrepare writes the worker's files into the run's folder, once, before it starts.
func TestPrepare(t *testing.T) {
	var folders []string
	var broken error
	w := workload()
	w.Command = nil
	w.Prepare = func(folder string) ([]string, error) {
		folders = append(folders, folder)
		return []string{os.Args[0]}, broken
	}
	dir := t.TempDir()
	p := plan(t, benchSettings("4,8"), w)
	if _, err := harness.Bench(context.Background(), harness.Options{Dir: dir, Plan: p, Workload: w}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{dir}, folders); diff != "" {
		t.Errorf("folders: %s", diff)
	}
	for _, c := range []struct {
		err  error
		code int
	}{{errors.New("no room"), harness.ExitFailed}, {usageError{errors.New("no room for torch")}, harness.ExitNoDevice}} {
		broken = c.err
		dir := t.TempDir()
		if _, err := harness.Bench(context.Background(), harness.Options{Dir: dir, Plan: p, Workload: w}); exitCode(err) != c.code || !strings.Contains(err.Error(), "no room") {
			t.Errorf("%v: error %v", c.err, err)
		}
		broken = nil
		if run, err := harness.Resume(context.Background(), harness.Options{Dir: dir, Workload: w}); err != nil || len(run.Trials) != 2 {
			t.Errorf("resumed to %+v: %v", run, err)
		}
	}
}
