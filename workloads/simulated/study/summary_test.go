package study_test

import (
	"math"
	"testing"

	"autotune/tuner"
	"autotune/workloads/simulated"
	"autotune/workloads/simulated/study"
)

func TestSummarise(t *testing.T) {
	var hundred []float64
	for i := range 100 {
		hundred = append(hundred, float64(100-i))
	}
	for _, c := range []struct {
		name   string
		values []float64
		want   study.Summary
	}{
		{"one", []float64{3}, study.Summary{Mean: 3, Median: 3, P5: 3, P95: 3, Max: 3}},
		{"1 to 100", hundred, study.Summary{Mean: 50.5, Median: 50, P5: 5, P95: 95, Max: 100}},
	} {
		if got := study.Summarise(c.values); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := study.Summarise(nil); !math.IsNaN(got.Mean) || !math.IsNaN(got.Max) {
		t.Errorf("no values: %+v, want NaN", got)
	}
	if got := study.Share(hundred, func(x float64) bool { return x > 90 }); got != 0.1 {
		t.Errorf("share %v, want 0.1", got)
	}
}

// The seconds that a search is charged are the trials' own and a worker's start after each failure.
func TestSearchPaysForWorkers(t *testing.T) {
	d, err := simulated.NewDevice(5, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	space := tuner.Space{Sets: []tuner.Set{{Precision: "fp32"}}, Sizes: []int{1, 2, 4, 8, 16, 32, 64}}
	o, err := study.Search(d, space, tuner.Goal{Objective: "batch", SoakSteps: 5, SoakSeconds: 1})
	if err != nil || o.Err != nil {
		t.Fatal(err, o.Err)
	}
	var want, starts float64
	for i, trial := range o.Trials {
		steps := 0.0
		for _, s := range trial.StepSeconds {
			steps += s
		}
		want += steps
		if i == 0 || trial.Purpose == tuner.Soak || o.Trials[i-1].Status != tuner.OK {
			starts += d.StartSeconds()
		}
	}
	if got := o.FitSeconds + o.TimeSeconds + o.SoakSeconds; got < want+starts {
		t.Errorf("%v s, want at least %v s of timed steps and %v s of starts", got, want, starts)
	}
	if o.SoakSeconds <= 0 || o.Count(func(t tuner.Trial) bool { return t.Purpose == tuner.Soak }) != 1 {
		t.Errorf("the soak took %v s", o.SoakSeconds)
	}
	if o.Fits() == 0 || o.Failures() == 0 || o.Fits() >= len(o.Trials) {
		t.Errorf("%d of %d trials are for the border, %d failed", o.Fits(), len(o.Trials), o.Failures())
	}
}
