package main

import (
	"math"
	"testing"

	"autotune/harness"
	"autotune/tuner/stats"
)

// noiseOf is a run of so many repeats, whose steps take their number of seconds.
func noiseOf(repeats int) *harness.Run {
	var run harness.Run
	for i := range repeats {
		run.Trials = append(run.Trials, harness.TrialRecord{Number: i + 1, Repeat: i + 1, StepSeconds: []float64{float64(i + 1), float64(i + 1)}})
	}
	return &run
}

func TestDrawnPairsFollowOneAnother(t *testing.T) {
	const repeats = 2*harness.DefaultRepeat + 5
	seen := map[float64]bool{}
	for seed := range uint64(200) {
		before, after := draw(noiseOf(repeats), seed)
		first := before.Trials[0].StepSeconds[0]
		seen[first] = true
		for i, trial := range append(before.Trials, after.Trials...) {
			if got := trial.StepSeconds[0]; got != first+float64(i) {
				t.Fatalf("seed %d: repeat %d of the pair is %v of the noise, and its first is %v", seed, i+1, got, first)
			}
			if want := i%harness.DefaultRepeat + 1; trial.Number != want || trial.Repeat != want {
				t.Fatalf("seed %d: repeat %d has the number %d", seed, want, trial.Number)
			}
		}
	}
	if len(seen) != 6 {
		t.Errorf("pairs begin at %d places of 6", len(seen))
	}
}

func TestSlowedRunHasLessThroughput(t *testing.T) {
	run := noiseOf(3)
	slow := slowed(run, 0.1)
	for i, trial := range slow.Trials {
		was, err := stats.Median(run.Trials[i].StepSeconds)
		if err != nil {
			t.Fatal(err)
		}
		now, err := stats.Median(trial.StepSeconds)
		if err != nil || math.Abs(was/now-0.9) > 1e-12 {
			t.Errorf("repeat %d: a throughput of %v times the one before (%v)", i+1, was/now, err)
		}
	}
}
