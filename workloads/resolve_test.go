package workloads_test

import (
	"errors"
	"strings"
	"testing"

	"autotune/harness"
	"autotune/workloads"
	"autotune/workloads/devices"
)

func TestResolve(t *testing.T) {
	hideGPUs(t)
	for _, c := range []struct {
		name                          string
		choice                        workloads.Choice
		model, engine, reason, device string
		limitOn                       string
	}{
		{"alias", workloads.Choice{Model: "resnet", Engine: "auto", Device: "cpu"}, "resnet20", "gorgonia", "built in, and the device is the CPU", "cpu", "resident"},
		{"asked for", workloads.Choice{Model: "mlp", Engine: "gorgonia"}, "mlp", "gorgonia", "", "cpu", "resident"},
		{"option", workloads.Choice{Model: "mlp", Options: map[string]string{"width": "8"}}, "mlp", "gorgonia", "built in; no NVIDIA device is here", "cpu", "resident"},
		{"simulated", workloads.Choice{Model: "simulated", Engine: "auto"}, "simulated", "simulated", "the only engine of this model", "simulated", "simulated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := workloads.Resolve(t.Context(), c.choice)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{w.Model, w.Engine, w.EngineReason, w.Device, w.LimitOn}
			want := []string{c.model, c.engine, c.reason, c.device, c.limitOn}
			if strings.Join(got, "|") != strings.Join(want, "|") {
				t.Errorf("got %v, want %v", got, want)
			}
			if w.DeviceName == "" || len(w.Precisions) == 0 || w.Facts.RecipeOptimizer == "" {
				t.Errorf("incomplete: %+v", w)
			}
			if last := w.Command[len(w.Command)-1]; last != c.engine {
				t.Errorf("the worker is of engine %s, want %s", last, c.engine)
			}
		})
	}
}

// hideGPUs keeps a machine's GPUs from deciding which engine is taken.
func hideGPUs(t *testing.T) {
	t.Helper()
	t.Setenv(devices.VisibleVariable, "")
}

func TestResolveFacts(t *testing.T) {
	hideGPUs(t)
	w, err := workloads.Resolve(t.Context(), workloads.Choice{Model: "resnet"})
	if err != nil {
		t.Fatal(err)
	}
	if f := w.Facts; f.Parameters != 272474 || f.RecipeBatch != 128 || f.RecipeOptimizer != "momentum" || f.SampleUnit != "image" || !f.BatchNorm {
		t.Errorf("facts of resnet20: %+v", f)
	}
}

func TestResolveErrors(t *testing.T) {
	hideGPUs(t)
	for _, c := range []struct {
		choice workloads.Choice
		code   int
		want   []string // in the message
	}{
		{workloads.Choice{Model: "resnet21"}, harness.ExitUsage, []string{"resnet21", "resnet20"}},
		{workloads.Choice{Model: "mlp", Options: map[string]string{"widht": "8"}}, harness.ExitUsage, []string{"widht", "width"}},
		{workloads.Choice{Model: "simulated", Options: map[string]string{"fuzy": "1"}}, harness.ExitUsage, []string{"fuzy", "fuzzy"}},
		{workloads.Choice{Model: "mlp", Engine: "simulated"}, harness.ExitUsage, []string{"simulated", "mlp"}},
		{workloads.Choice{Model: "simulated", Engine: "gorgonia"}, harness.ExitUsage, []string{"simulated", "gorgonia"}},
		{workloads.Choice{Model: "mlp", Engine: "gorgonai"}, harness.ExitUsage, []string{"gorgonai", "did you mean gorgonia?"}},
		{workloads.Choice{Model: "mlp", Engine: "cuda"}, harness.ExitNoDevice, []string{"cuda", "pytorch"}},
		{workloads.Choice{Model: "mlp", Engine: "gorgonia", Device: "cuda"}, harness.ExitNoDevice, []string{"cuda", "--device cpu", "pytorch"}},
		{workloads.Choice{Model: "simulated", Device: "cuda:1"}, harness.ExitNoDevice, []string{"cuda:1", "--device cpu"}},
		{workloads.Choice{Model: "mlp", Engine: "gorgonia", Python: "python3"}, harness.ExitUsage, []string{"--python", "--engine pytorch"}},
		{workloads.Choice{Model: "mlp", Engine: "gorgonia", Input: "3,32,32"}, harness.ExitUsage, []string{"--input", "--engine pytorch"}},
		{workloads.Choice{Model: "mlp", Classes: 3}, harness.ExitUsage, []string{"--classes", "--engine pytorch"}},
		{workloads.Choice{Model: "torchvision:resnet18", Engine: "gorgonia"}, harness.ExitUsage, []string{"torchvision:resnet18", "--engine pytorch"}},
		{workloads.Choice{Model: ":build"}, harness.ExitUsage, []string{":build", "FILE.py:FUNCTION"}},
		{workloads.Choice{Model: "torchvision:"}, harness.ExitUsage, []string{"torchvision:", "torchvision:NAME"}},
		{workloads.Choice{Model: "simulated", Engine: "pytorch"}, harness.ExitUsage, []string{"simulated", "--engine simulated"}},
		{workloads.Choice{Model: "resnet21", Engine: "pytorch"}, harness.ExitUsage, []string{"did you mean resnet20?", "torchvision:NAME", "FILE.py:FUNCTION"}},
		{workloads.Choice{Model: "mlp", Device: "cuda:x"}, harness.ExitUsage, []string{"cuda:x", "cuda:N"}},
		{workloads.Choice{Model: "mlp", Device: "tpu"}, harness.ExitUsage, []string{"tpu", "did you mean cpu?"}},
	} {
		_, err := workloads.Resolve(t.Context(), c.choice)
		var coded interface{ ExitCode() int }
		if !errors.As(err, &coded) || coded.ExitCode() != c.code {
			t.Errorf("%+v: %v, want an error of exit code %d", c.choice, err, c.code)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: %v does not name %s", c.choice, err, part)
			}
		}
	}
}

func TestModels(t *testing.T) {
	hideGPUs(t)
	models, err := workloads.Models()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range models {
		if _, err := workloads.Resolve(t.Context(), workloads.Choice{Model: m.Name}); err != nil {
			t.Errorf("%s is listed and cannot be resolved: %v", m.Name, err)
		}
		if m.Summary == "" || m.Facts.InputShape == nil {
			t.Errorf("incomplete: %+v", m)
		}
	}
}

func TestServeUnknownEngine(t *testing.T) {
	if err := workloads.Serve("gorgonai", strings.NewReader(""), &strings.Builder{}); err == nil {
		t.Error("no error for an unknown engine")
	}
}
