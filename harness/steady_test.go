package harness_test

import (
	"strings"
	"testing"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/tuner"
)

const megabyte = 1 << 20

// judged judges a trial of these timed steps, whose losses are finite, and of what was held after each.
func judged(purpose tuner.Purpose, seconds []float64, held ...int64) tuner.Trial {
	r := harness.TrialRecord{Request: tuner.Request{
		Config: tuner.Config{Precision: "fp32", MicroBatch: 4, Accumulation: 1}, Purpose: purpose, Steps: len(seconds),
	}, StepSeconds: seconds, StepsRun: len(seconds), Memory: protocol.Memory{Peak: map[string]int64{protocol.Resident: 500 * megabyte}}}
	for range seconds {
		r.Samples = append(r.Samples, 4)
	}
	for i, bytes := range held {
		r.Held = append(r.Held, harness.Held{Step: 2*i + 1, Bytes: bytes})
	}
	trial, _ := harness.Judge(harness.Header{LimitOn: protocol.Resident}, nil, r)
	return trial
}

// series gives n values that the function makes of their places.
func series[T any](n int, of func(i int) T) []T {
	values := make([]T, n)
	for i := range values {
		values[i] = of(i)
	}
	return values
}

// jitter is 0, 1 or 2 percent, in an order without a trend.
func jitter(i int) float64 { return float64(i*7%3) / 100 }

func TestStepsBeforeASteadyOneAreLeftOut(t *testing.T) {
	for _, c := range []struct {
		name string
		of   func(i int) float64
		left int // of 20
		warn string
	}{
		{"steady", func(i int) float64 { return 1 + jitter(i) }, 20, ""},
		{"three slow ones first", func(i int) float64 { return 1 + jitter(i) + 3*float64(max(0, 3-i)) }, 17, ""},
		{"slower and slower", func(i int) float64 { return 1 + jitter(i) + float64(i)/20 }, 0, "never became steady: from the first timed one to the last they are"},
		{"faster and faster", func(i int) float64 { return 3 - jitter(i) - float64(i)/10 }, 0, "faster"},
	} {
		got := judged(tuner.Time, series(20, c.of))
		if c.left > 0 && len(got.StepSeconds) != c.left {
			t.Errorf("%s: %d steps are left", c.name, len(got.StepSeconds))
		}
		if warnings := strings.Join(got.Warnings, "\n"); got.Status != tuner.OK || c.warn == "" && warnings != "" || !strings.Contains(warnings, c.warn) {
			t.Errorf("%s: %s, warnings %q", c.name, got.Status, warnings)
		}
	}
}

func TestGrowthOfASoak(t *testing.T) {
	steps := series(60, func(i int) float64 { return 1 + jitter(i) })
	leak := func(i int) int64 { return 400*megabyte + int64(i)*megabyte } // a megabyte each second step
	for _, c := range []struct {
		name    string
		purpose tuner.Purpose
		held    []int64
		grows   bool
	}{
		{"a leak", tuner.Soak, series(30, leak), true},
		{"a leak with jitter", tuner.Soak, series(30, func(i int) int64 { return leak(i) + int64(jitter(i)*200)*megabyte }), true},
		{"no soak", tuner.Time, series(30, leak), false},
		{"too few looks", tuner.Soak, series(9, leak), false},
		{"constant", tuner.Soak, series(30, func(int) int64 { return 400 * megabyte }), false},
		{"jitter alone", tuner.Soak, series(30, func(i int) int64 { return 400*megabyte + int64(jitter(i)*500)*megabyte }), false},
		{"only at first", tuner.Soak, series(30, func(i int) int64 { return 400*megabyte - int64(max(0, 5-i))*20*megabyte }), false},
		{"a page now and then", tuner.Soak, series(30, func(i int) int64 { return 400*megabyte + int64(i)*4096 }), false},
		{"not looked at", tuner.Soak, nil, false},
	} {
		got := judged(c.purpose, steps, c.held...)
		if grows := got.GrowthBytes > 0; grows != c.grows || grows != (len(got.Warnings) > 0) {
			t.Errorf("%s: growth %d, warnings %q", c.name, got.GrowthBytes, got.Warnings)
		}
	}
	// Half a megabyte a step.
	if got := judged(tuner.Soak, steps, series(30, leak)...); got.GrowthBytes != harness.GrowthHorizon*megabyte/2 {
		t.Errorf("growth %d, warnings %q", got.GrowthBytes, got.Warnings)
	}
}

// Steps cannot take longer than the trial that they are in, unless their time is computed.
func TestStepsLongerThanTheirTrial(t *testing.T) {
	r := harness.TrialRecord{Request: tuner.Request{Config: tuner.Config{Precision: "fp32", MicroBatch: 4, Accumulation: 1}, WarmupSteps: 1, Steps: 2},
		WarmupSeconds: []float64{1}, StepSeconds: []float64{1, 1e7}, StepsRun: 3, Samples: []int{4, 4, 4}, WallSeconds: 4}
	for _, c := range []struct {
		header harness.Header
		want   tuner.Status
	}{
		{harness.Header{LimitOn: protocol.Tensors}, tuner.Invalid},
		{harness.Header{LimitOn: protocol.Tensors, VirtualClock: true}, tuner.OK},
		{harness.Header{LimitOn: protocol.Simulated, Engine: "simulated"}, tuner.OK},
	} {
		if got, why := harness.Judge(c.header, nil, r); got.Status != c.want {
			t.Errorf("%+v: %s, %s", c.header, got.Status, why)
		}
	}
	r.StepSeconds[1] = 1.5
	if got, why := harness.Judge(harness.Header{LimitOn: protocol.Tensors}, nil, r); got.Status != tuner.OK {
		t.Errorf("steps of 3.5 s in a trial of 4 s: %s, %s", got.Status, why)
	}
}
