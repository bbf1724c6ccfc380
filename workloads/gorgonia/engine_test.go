package gorgonia_test

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"autotune/harness/protocol"
	"autotune/workloads/gorgonia"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask is a small trial that works; the function changes it.
func ask(change func(*protocol.Trial)) protocol.Trial {
	t := protocol.Trial{
		Work: protocol.Work{Model: "mlp", Options: map[string]string{"width": "8"}, Optimizer: "sgd", Seed: 1,
			Precision: "fp32", Accumulation: 1},
		MicroBatch: 2, WarmupSteps: 1, Steps: 1,
	}
	if change != nil {
		change(&t)
	}
	return t
}

// train runs a trial and gives its steps.
func train(t *testing.T, trial protocol.Trial) ([]protocol.Step, protocol.Done) {
	t.Helper()
	var steps []protocol.Step
	done, err := gorgonia.NewEngine().Run(trial, func(s protocol.Step) error {
		steps = append(steps, s)
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", trial.Model, err)
	}
	return steps, done
}

func TestLossFalls(t *testing.T) {
	for _, trial := range []protocol.Trial{
		{Work: protocol.Work{Model: "mlp", Options: map[string]string{"width": "64"}, Optimizer: "sgd", Accumulation: 2}, MicroBatch: 32, Steps: 20},
		{Work: protocol.Work{Model: "lenet", Optimizer: "adam"}, MicroBatch: 64, Steps: 12},
		{Work: protocol.Work{Model: "resnet20", Options: map[string]string{"image": "8"}, Optimizer: "momentum"}, MicroBatch: 64, Steps: 6},
		{Work: protocol.Work{Model: "gpt", Options: map[string]string{"layers": "1", "width": "32", "heads": "2", "tokens": "4"},
			Optimizer: "adamw"}, MicroBatch: 64, Steps: 35},
	} {
		trial.Precision, trial.Seed, trial.Accumulation = "fp32", 1, max(1, trial.Accumulation)
		steps, _ := train(t, trial)
		first, last := *steps[0].Loss, *steps[len(steps)-1].Loss
		if last > 0.85*first {
			t.Errorf("%s: the loss went from %.3f to %.3f", trial.Model, first, last)
		}
	}
}

// The large models are lowered and stepped on small images.
func TestLargeModelsStep(t *testing.T) {
	for _, name := range []string{"resnet18", "resnet50"} {
		steps, _ := train(t, ask(func(t *protocol.Trial) {
			t.Model, t.Optimizer, t.Options, t.WarmupSteps = name, "momentum", map[string]string{"image": "32"}, 0
		}))
		// Chance level: ln 1000 = 6.9.
		if loss := *steps[0].Loss; loss < 4 || loss > 12 {
			t.Errorf("%s: the first loss is %g", name, loss)
		}
	}
}

func TestStepsAreRunAndReported(t *testing.T) {
	cases := []struct {
		name   string
		trial  protocol.Trial
		steps  int // at least
		exact  bool
		sample int
	}{
		{"warm-up and steps", ask(func(t *protocol.Trial) { t.WarmupSteps, t.Steps = 2, 3 }), 5, true, 2},
		{"accumulation", ask(func(t *protocol.Trial) { t.Accumulation = 3 }), 2, true, 6},
		{"until the time is reached", ask(func(t *protocol.Trial) { t.Seconds = 0.05 }), 2, false, 2},
		{"no warm-up", ask(func(t *protocol.Trial) { t.WarmupSteps = 0 }), 1, true, 2},
	}
	for _, c := range cases {
		steps, done := train(t, c.trial)
		if len(steps) < c.steps || c.exact && len(steps) != c.steps || done.StepsRun != len(steps) {
			t.Errorf("%s: %d steps reported, %d said, want %d", c.name, len(steps), done.StepsRun, c.steps)
		}
		var timed float64
		for i, s := range steps {
			if s.Warmup != (i < c.trial.WarmupSteps) || s.Samples != c.sample || s.Loss == nil || s.Seconds <= 0 {
				t.Errorf("%s: step %d is %+v", c.name, i, s)
			}
			if !s.Warmup {
				timed += s.Seconds
			}
		}
		if timed < c.trial.Seconds {
			t.Errorf("%s: the timed steps took %g s, less than %g", c.name, timed, c.trial.Seconds)
		}
	}
}

// Seed, data and weights alone decide the losses; both precisions agree at first.
func TestTrialsRepeat(t *testing.T) {
	trial := ask(func(t *protocol.Trial) { t.Model, t.Options, t.Steps = "lenet", nil, 3 })
	a, _ := train(t, trial)
	b, _ := train(t, trial)
	trial.Precision = "fp64"
	wide, _ := train(t, trial)
	trial.Seed++
	other, _ := train(t, trial)
	for i := range a {
		if d := math.Abs(*a[i].Loss - *b[i].Loss); d > 1e-4 {
			t.Errorf("step %d: two runs differ by %g", i, d)
		}
		if d := math.Abs(*a[i].Loss - *wide[i].Loss); d > 1e-3 {
			t.Errorf("step %d: fp32 and fp64 differ by %g", i, d)
		}
	}
	if *other[0].Loss == *wide[0].Loss {
		t.Error("two seeds give one loss")
	}
}

func TestWhatCannotRunIsSaid(t *testing.T) {
	cases := []struct {
		name     string
		trial    protocol.Trial
		wantType string
		wantText string
	}{
		{"precision", ask(func(t *protocol.Trial) { t.Precision = "bf16" }), "unsupported", "bf16"},
		{"knobs", ask(func(t *protocol.Trial) { t.Knobs = "compile=on" }), "unsupported", "compile"},
		{"optimizer", ask(func(t *protocol.Trial) { t.Optimizer = "lion" }), "unsupported", "lion"},
		{"micro-batch", ask(func(t *protocol.Trial) { t.MicroBatch = 0 }), "invalid", "micro_batch"},
		{"accumulation", ask(func(t *protocol.Trial) { t.Accumulation = -1 }), "invalid", "accumulation_steps"},
		{"steps", ask(func(t *protocol.Trial) { t.Steps = 0 }), "invalid", "steps"},
		{"model", ask(func(t *protocol.Trial) { t.Model = "mpl" }), "invalid", "mlp"},
		{"option", ask(func(t *protocol.Trial) { t.Options = map[string]string{"widht": "3"} }), "invalid", "width"},
		{"one value per channel", ask(func(t *protocol.Trial) {
			t.Model, t.Options, t.MicroBatch = "resnet18", map[string]string{"image": "32"}, 1
		}), "error", `layer "layer4.0.bn1"`},
	}
	for _, c := range cases {
		_, err := gorgonia.NewEngine().Run(c.trial, func(protocol.Step) error {
			t.Errorf("%s: a step ran", c.name)
			return nil
		})
		var failure *protocol.Error
		if !errors.As(err, &failure) {
			t.Errorf("%s: the error is %v", c.name, err)
			continue
		}
		if failure.Type != c.wantType || failure.Phase != "build" || !strings.Contains(failure.Error(), c.wantText) {
			t.Errorf("%s: type %q, phase %q, text %q", c.name, failure.Type, failure.Phase, failure)
		}
	}
}

func TestBatchOfOneWithBatchNorm(t *testing.T) {
	steps, _ := train(t, ask(func(t *protocol.Trial) {
		t.Model, t.Options, t.Optimizer, t.MicroBatch, t.Accumulation = "resnet20", nil, "momentum", 1, 2
	}))
	for i, s := range steps {
		if s.Loss == nil {
			t.Errorf("step %d: the loss is not finite", i)
		}
	}
}

func TestReportsErrorEndsTheTrial(t *testing.T) {
	stop := errors.New("the pipe is closed")
	if _, err := gorgonia.NewEngine().Run(ask(nil), func(protocol.Step) error { return stop }); err != stop {
		t.Errorf("the error is %v", err)
	}
}

func TestReady(t *testing.T) {
	r := gorgonia.NewEngine().Ready()
	if r.Engine != "gorgonia" || r.Device != "cpu" || strings.Join(r.Precisions, ",") != "fp32,fp64" {
		t.Errorf("%+v", r)
	}
	if runtime.GOOS == "linux" && strings.Join(r.Counters, ",") != protocol.Resident {
		t.Errorf("counters %v", r.Counters)
	}
}
