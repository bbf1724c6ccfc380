//go:build unix

package harness_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"autotune/harness"
	"autotune/tuner"
)

// predict asks the fake engine, and gives the counter of its answer.
func predict(ctx context.Context, w harness.Workload, sizes ...int) (string, error) {
	settings := harness.Settings{Optimizer: "sgd", Seed: 1}
	got, err := harness.Predict(ctx, w, settings, tuner.Config{Precision: "fp32", Accumulation: 1}, sizes)
	if err != nil {
		return "", err
	}
	return got.Counter, nil
}

func TestPredict(t *testing.T) {
	const split = `"splits":[{"micro_batch":8,"peak_bytes":9}]`
	for _, c := range []struct {
		name   string
		script string
		sizes  []int
		code   int    // exit code; 0: it is predicted
		text   string // in the error
	}{
		{"lines alone", "", nil, 0, ""},
		{"with a split", `say {"v":1,"op":"predicted","counter":"resident","lines":[{"fixed_bytes":1}],` + split + "}", []int{8}, 0, ""},
		{"without the splits", "", []int{8}, harness.ExitFailed, "1 lines and 0 sizes"},
		{"an error", "fail no shapes", nil, harness.ExitFailed, "memory could not be predicted"},
		{"an error of the user's code", `say {"v":1,"op":"failed","type":"ValueError","phase":"predict","text":"ValueError: odd\nTraceback:\n  File \"/a/train.py\", line 3, in loss\n    f(x)"}`,
			nil, harness.ExitFailed, "predicted: ValueError: odd\n  at train.py:3, in loss: f(x)\nTraceback:\n  File"},
		{"what the engine cannot do", `say {"v":1,"op":"failed","type":"unsupported","phase":"predict","text":"not this"}`, nil, harness.ExitUsage, "not this"},
		{"what the user named", `say {"v":1,"op":"failed","type":"usage","phase":"predict","text":"no such model"}`, nil, harness.ExitUsage, "no such model"},
		{"another message", `say {"v":1,"op":"done"}`, nil, harness.ExitFailed, "the worker said done in answer to predict"},
		{"a dead worker", "exit 7", nil, harness.ExitFailed, "exit code 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			counter, err := predict(t.Context(), foreseeing("predict="+c.script), c.sizes...)
			if c.code == 0 {
				if err != nil || counter != "resident" {
					t.Fatalf("%q, %v", counter, err)
				}
				return
			}
			if err == nil || exitCode(err) != c.code || !strings.Contains(err.Error(), c.text) {
				t.Errorf("exit code %d of %v", exitCode(err), err)
			}
		})
	}
}

func TestPredictIsRefused(t *testing.T) {
	w := workload()
	w.Unpredicted = "it is a fake"
	if _, err := predict(t.Context(), w); err == nil || exitCode(err) != harness.ExitUsage || !strings.Contains(err.Error(), "it is a fake") {
		t.Error(err)
	}
	settings, bf16 := harness.Settings{Optimizer: "sgd"}, tuner.Config{Precision: "bf16", Accumulation: 1}
	if _, err := harness.Predict(t.Context(), foreseeing(), settings, bf16, nil); err == nil || exitCode(err) != harness.ExitUsage {
		t.Error(err)
	}
	w = foreseeing()
	w.Command = []string{"/no/such/program"}
	if _, err := predict(t.Context(), w); err == nil || exitCode(err) != harness.ExitNoDevice {
		t.Error(err)
	}
}

func TestPredictIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := predict(ctx, foreseeing("predict=hang")); !errors.Is(err, harness.ErrInterrupted) {
		t.Error(err)
	}
}
