package main

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/tuner"
)

func TestFirstLine(t *testing.T) {
	limit := int64(2 << 30)
	resnet := harness.Header{
		Settings: harness.Settings{Model: "resnet"}, Model: "resnet20", Engine: "gorgonia", EngineReason: "built in",
		Device: "cpu", DeviceName: "Xeon", LimitOn: protocol.Resident, LimitBytes: &limit, LimitSource: "default, with 8 GiB available",
		Environment: harness.Environment{Cores: 2},
	}
	simulated := harness.Header{
		Settings: harness.Settings{Model: "simulated"}, Model: "simulated", Engine: "simulated",
		Device: "simulated", LimitOn: protocol.Simulated, LimitSource: "--memory-limit none",
	}
	cuda := harness.Header{
		Settings: harness.Settings{Model: "resnet"}, Model: "resnet50", Engine: "pytorch", EngineReason: "it can use a GPU here",
		Device: "cuda", DeviceName: "NVIDIA H200", DeviceBusy: "31.2 GiB used by others: python 1234", LimitOn: protocol.Reserved,
		LimitSource: "--memory-limit none", Versions: map[string]string{"torch": "2.15.0", "python": "3.13.1 (/usr/bin/python3)", "torchvision": "0.29"},
	}
	for _, c := range []struct {
		header harness.Header
		want   string
	}{
		{cuda, "autotune: resnet50 (resnet on cuda) · engine pytorch (it can use a GPU here), torch 2.15.0, python 3.13.1 (/usr/bin/python3) · " +
			"cuda NVIDIA H200, 31.2 GiB used by others: python 1234 · no limit on bytes reserved by PyTorch (--memory-limit none)"},
		{resnet, "autotune: resnet20 (resnet on cpu) · engine gorgonia (built in) · cpu Xeon, 2 cores · limit 2 GiB resident set (default, with 8 GiB available)"},
		{simulated, "autotune: simulated · engine simulated · simulated · no limit on simulated memory (--memory-limit none)"},
	} {
		if got := firstLine(c.header); got != c.want {
			t.Errorf("got\n%s\nwant\n%s", got, c.want)
		}
	}
}

func TestTrialLines(t *testing.T) {
	request := tuner.Request{Config: tuner.Config{Precision: "fp32", MicroBatch: 32, Accumulation: 4}, Purpose: tuner.Fit}
	ran := harness.TrialRecord{
		Number: 3, Request: request, StepSeconds: []float64{0.5, 0.5, 0.5}, WallSeconds: 2.345, Worker: 1, WarmupSeconds: []float64{1},
		Memory: protocol.Memory{Peak: map[string]int64{protocol.Resident: 300 << 20}},
	}
	failed := harness.TrialRecord{
		Number: 4, Request: request, WallSeconds: 75.2, Worker: 2, Failure: &harness.Failure{Text: "out of memory\nand more"},
	}
	var output strings.Builder
	lines := newEvents(&output, true)
	lines.Begin(harness.Header{LimitOn: protocol.Resident})
	output.Reset()
	lines.TrialBegin(3, request, 5, 65)
	lines.TrialEnd(ran, tuner.OK)
	lines.TrialBegin(4, request, 1, 0)
	lines.TrialEnd(failed, tuner.OOM)
	lines.Note("The size is odd.")
	lines.close()
	want := `trial 3: fp32 32x4 (fit); about 5 left, about 1m5s
trial 3: fp32 32x4 ok, 256 samples/s, peak 300 MiB, 2.35s
  worker 1, warm-up steps [1] s, timed steps [0.5 0.5 0.5] s
trial 4: fp32 32x4 (fit); probably the last
trial 4: fp32 32x4 oom, out of memory, 1m15s
  worker 2, warm-up steps [] s, timed steps [] s
note: The size is odd.
`
	if got := output.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestBarEnds holds that the redrawn line leaves nothing running, whether the run began or not.
func TestBarEnds(t *testing.T) {
	defer goleak.VerifyNone(t)
	newBarEvents(&plainEvents{w: &strings.Builder{}}).close()

	var output strings.Builder
	bar := newBarEvents(&plainEvents{w: &output})
	bar.Note("before")
	bar.Begin(harness.Header{Model: "mlp"})
	bar.TrialBegin(1, tuner.Request{Purpose: tuner.Fit}, 3, 100)
	if got := bar.line(); !strings.Contains(got, "trial 1") || !strings.Contains(got, "about 1m") {
		t.Errorf("the line says %q", got)
	}
	bar.TrialEnd(harness.TrialRecord{WallSeconds: 1}, tuner.OK)
	bar.TrialBegin(2, tuner.Request{Purpose: tuner.Soak}, 1, 0)
	bar.close()
	if got := output.String(); !strings.Contains(got, "note: before\n") || !strings.Contains(got, "mlp") {
		t.Errorf("output %q", got)
	}
}
