package tuner_test

import (
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"autotune/tuner"
)

// blighted is a device on which trials fail for other reasons than memory, with what a worker says of them.
func blighted(d *device, fails func(r tuner.Request) (status tuner.Status, came int, cause string)) func(int, tuner.Request) tuner.Trial {
	return func(n int, r tuner.Request) tuner.Trial {
		trial := d.run(n, r)
		if status, came, cause := fails(r); status != "" {
			trial.Status, trial.Came, trial.Cause = status, came, cause
			trial.PeakBytes, trial.StepSeconds = 0, nil
		}
		return trial
	}
}

// Batches that are smaller than asked bound the search at the number that came, and cost one trial or two.
func TestDataSmallerThanTheBorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.IntRange(1, 5000).Draw(t, "samples")
		fitting := rapid.IntRange(1, 5000).Draw(t, "border")
		d := plain(fitting)
		objective := rapid.SampledFrom([]tuner.Objective{tuner.Throughput, tuner.Batch}).Draw(t, "objective")
		run := blighted(d, func(r tuner.Request) (tuner.Status, int, string) {
			if r.MicroBatch > samples {
				return tuner.Invalid, samples, ""
			}
			return "", 0, ""
		})
		space := oneSet(8192)
		space.Sets = []tuner.Set{{Precision: "fp32"}, {Precision: "fp64"}}
		f := search{space: space, goal: tuner.Goal{Objective: objective, LimitBytes: d.limit, SoakSteps: 2}, run: run}.finish(t)
		border, invalid := f.recommend(t).Largest[0], 0
		for _, trial := range f.trials {
			if trial.Status == tuner.Invalid {
				invalid++
			}
		}
		want, bound := fitting, "memory"
		switch {
		case samples < fitting:
			want, bound = samples, tuner.BoundData
		case samples == fitting: // the size above fails for both
			bound = border.Bound
		}
		if border.MicroBatch != want || border.Bound != bound || invalid > 1 {
			t.Fatalf("border %+v after %d invalid trials, want %d bound by %s", border, invalid, want, bound)
		}
	})
}

// A loader that gives one number of samples whatever is asked for is trained with that number.
func TestLoaderWithItsOwnBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		own := rapid.IntRange(1, 1000).Draw(t, "samples of each batch")
		d := plain(2000)
		run := blighted(d, func(r tuner.Request) (tuner.Status, int, string) {
			if r.MicroBatch != own {
				return tuner.Invalid, own, ""
			}
			return "", 0, ""
		})
		objective := rapid.SampledFrom([]tuner.Objective{tuner.Throughput, tuner.Batch}).Draw(t, "objective")
		f := search{space: oneSet(1024), goal: tuner.Goal{Objective: objective, LimitBytes: d.limit, SoakSteps: 2}, run: run}.finish(t)
		if r := f.recommend(t); r.MicroBatch != own || len(f.trials) > 6 {
			t.Fatalf("recommended %v after %d trials, want %d: %v", r.Config, len(f.trials), own, f.requests)
		}
	})
}

// What fails whatever the size is left after three trials of each set.
func TestFailuresThatAreNoneOfTheSize(t *testing.T) {
	for _, objective := range []tuner.Objective{tuner.Throughput, tuner.Batch, tuner.Memory} {
		d := plain(100)
		run := blighted(d, func(r tuner.Request) (tuner.Status, int, string) {
			if r.Precision == "fp64" {
				return "", 0, ""
			}
			return tuner.Crashed, 0, "TypeError: wrong"
		})
		space := global(128)
		space.Sets = []tuner.Set{{Precision: "fp32"}, {Precision: "bf16"}}
		goal := tuner.Goal{Objective: objective, LimitBytes: d.limit, SoakSteps: 2}
		f := search{space: space, goal: goal, run: run}.finish(t)
		if _, err := f.tuner.Recommend(); err == nil || len(f.trials) > 6 {
			t.Errorf("%s: %d trials, %v", objective, len(f.trials), err)
		}
		space.Sets = append(space.Sets, tuner.Set{Precision: "fp64"})
		f = search{space: space, goal: goal, run: run}.finish(t)
		if r := f.recommend(t); r.Precision != "fp64" || f.count(tuner.Soak) != 1 {
			t.Errorf("%s: recommended %v", objective, r.Config)
		}
	}
}

// A cause that only large sizes have, or the smallest alone, hides no size that runs; to find
// where it begins costs not much more than a bisection whose every step is looked at twice.
func TestFailuresThatAreOfTheSize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		largest := rapid.IntRange(2, 4096).Draw(t, "largest size")
		wall := rapid.IntRange(2, largest+1).Draw(t, "first size that fails")
		smallest := rapid.IntRange(1, min(2, wall-1)).Draw(t, "smallest that runs")
		d := plain(8192)
		run := blighted(d, func(r tuner.Request) (tuner.Status, int, string) {
			switch {
			case r.MicroBatch >= wall:
				return tuner.Crashed, 0, "an index is too large"
			case r.MicroBatch < smallest:
				return tuner.Crashed, 0, "more than one value is needed"
			}
			return "", 0, ""
		})
		f := search{space: oneSet(largest), goal: tuner.Goal{Objective: tuner.Batch, LimitBytes: d.limit, SoakSteps: 1}, run: run}.finish(t)
		if border := f.recommend(t).Largest[0]; border.MicroBatch != wall-1 {
			t.Fatalf("border %+v, want %d", border, wall-1)
		}
		if most := 3*bits.Len(uint(largest)) + 6; len(f.trials) > most {
			t.Fatalf("%d trials, want %d at most: %v", len(f.trials), most, f.requests)
		}
	})
}
