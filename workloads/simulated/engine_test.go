package simulated_test

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autotune/harness/protocol"
	"autotune/tuner"
	"autotune/workloads/simulated"
)

func ask(number, size int, options map[string]string) protocol.Trial {
	return protocol.Trial{
		Work:   protocol.Work{Model: "simulated", Options: options, Seed: 7, Precision: "fp32", Accumulation: 2},
		Number: number, MicroBatch: size, WarmupSteps: 1, Steps: 3,
	}
}

func runEngine(t protocol.Trial) (done protocol.Done, steps []protocol.Step, err error) {
	done, err = simulated.NewEngine().Run(t, func(s protocol.Step) error {
		steps = append(steps, s)
		return nil
	})
	return done, steps, err
}

// A worker and a study see the same device.
func TestEngineRunsTheDeviceOfTheSeed(t *testing.T) {
	d := device(t, 7, simulated.Options{Fuzzy: 0.01})
	request := tuner.Request{Config: config("fp32", 1, 2), WarmupSteps: 1, Steps: 3}
	want := d.Run(5, request)
	for _, options := range []map[string]string{{"fuzzy": "0.01"}, {"fuzzy": "0.01", "device": "7"}} {
		done, steps, err := runEngine(ask(5, 1, options))
		if err != nil {
			t.Fatal(err)
		}
		var seconds []float64
		for i, s := range steps {
			if s.Warmup != (i == 0) || s.Samples != 2 || s.Loss == nil {
				t.Errorf("step %d: %+v", i, s)
			}
			if !s.Warmup {
				seconds = append(seconds, s.Seconds)
			}
		}
		if diff := cmp.Diff(want.StepSeconds, seconds); diff != "" {
			t.Errorf("options %v: step seconds:\n%s", options, diff)
		}
		if done.StepsRun != 4 || done.Memory.Peak[protocol.Simulated] != want.PeakBytes {
			t.Errorf("options %v: %+v, want peak %d and 4 steps", options, done, want.PeakBytes)
		}
	}
}

func TestEngineRunsOutOfMemoryLikeACard(t *testing.T) {
	size := device(t, 7, simulated.Options{}).Border("fp32", 2) + 1
	done, steps, err := runEngine(ask(1, size, nil))
	var failure *protocol.Error
	if !errors.As(err, &failure) || failure.Type != "torch.OutOfMemoryError" || !strings.HasPrefix(failure.Error(), "CUDA out of memory. Tried to allocate ") {
		t.Fatalf("got %v, want an out-of-memory failure", err)
	}
	if len(steps) != 0 || len(done.Memory.Peak) != 0 {
		t.Errorf("steps %v and memory %v of a trial that failed in its first step", steps, done.Memory)
	}
}

func TestEngineRunsUntilTheTimeIsOver(t *testing.T) {
	d := device(t, 7, simulated.Options{})
	trial := ask(1, 1, nil)
	trial.Seconds = 20 * d.StepSeconds(config("fp32", 1, 2))
	done, steps, err := runEngine(trial)
	if err != nil || len(steps) < 19 || len(steps) > 23 || done.StepsRun != len(steps) {
		t.Errorf("%d steps, reported as %d, err %v: want about 21", len(steps), done.StepsRun, err)
	}
}

func TestEngineEndsWhenReportFails(t *testing.T) {
	gone := errors.New("gone")
	if _, err := simulated.NewEngine().Run(ask(1, 1, nil), func(protocol.Step) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("got %v, want the error of report", err)
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        []string
	}{
		{"devise", "3", []string{`"devise"`, `did you mean device?`, "fuzzy"}},
		{"device", "three", []string{`"device"`, `"three"`, "seed"}},
		{"fuzzy", "0.9", []string{`"fuzzy"`, "0 to 0.5"}},
		{"holes", "NaN", []string{`"holes"`, "0 to 1"}},
		{"failures", "-1", []string{`"failures"`, "0 to 1"}},
		{"pace", "-1", []string{`"pace"`}},
		{"pace", "1e300", []string{`"pace"`}},
		{"misbehave", "hung", []string{`"hung"`, `did you mean hang?`}},
		{"misbehave-at", "-4", []string{`"misbehave-at"`}},
	} {
		options := map[string]string{c.name: c.value}
		err := simulated.CheckOptions(options)
		if err == nil {
			t.Errorf("%v was accepted", options)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v: error %q does not say %q", options, err, part)
			}
		}
		if _, _, err := runEngine(ask(1, 1, options)); err == nil {
			t.Errorf("a trial with %v ran", options)
		}
	}
}

func TestSettingsAreAccepted(t *testing.T) {
	for _, s := range simulated.Settings() {
		if _, err := strconv.ParseFloat(s.Default, 64); err != nil {
			continue // the default is in words
		}
		if err := simulated.CheckOptions(map[string]string{s.Name: s.Default}); err != nil {
			t.Error(err)
		}
	}
}

func TestMisbehaviour(t *testing.T) {
	run := func(kind string, size int) (protocol.Done, []protocol.Step, error) {
		return runEngine(ask(1, size, map[string]string{"misbehave": kind, "misbehave-at": "2"}))
	}
	if done, steps, err := run("short", 2); err != nil || done.StepsRun != 1 || len(steps) != 1 {
		t.Errorf("short: %d steps, reported as %d, err %v", len(steps), done.StepsRun, err)
	}
	if _, steps, _ := run("nan", 2); steps[0].Loss != nil {
		t.Errorf("nan: loss %v", *steps[0].Loss)
	}
	if _, steps, _ := run("samples", 2); steps[0].Samples != 3 {
		t.Errorf("samples: the step saw %d, want one less than 4", steps[0].Samples)
	}
	for _, kind := range []string{"short", "nan", "samples", "hang", "exit", "kill", "panic"} {
		if done, steps, err := run(kind, 1); err != nil || done.StepsRun != 4 || steps[0].Loss == nil || steps[0].Samples != 2 {
			t.Errorf("%s misbehaves at another size: %v, err %v", kind, done, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("panic: did not")
		}
	}()
	_, _, _ = run("panic", 2)
}

func TestUnknownPrecisionIsAFailure(t *testing.T) {
	trial := ask(1, 1, nil)
	trial.Precision = "tf32"
	if _, _, err := runEngine(trial); err == nil || !strings.Contains(err.Error(), "tf32") {
		t.Errorf("got %v", err)
	}
	if peak := device(t, 1, simulated.Options{}).Peak(config("tf32", 1, 1)); peak != -1 {
		t.Errorf("peak %d", peak)
	}
	if s := device(t, 1, simulated.Options{}).StepSeconds(config("tf32", 1, 1)); !math.IsNaN(s) {
		t.Errorf("step of %v s", s)
	}
}
