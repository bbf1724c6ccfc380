package tuner_test

import (
	"testing"

	"pgregory.net/rapid"

	"autotune/tuner"
)

// Whatever a device answers, the search ends, asks for nothing that the space does
// not allow, and recommends only what ran.
func TestAnyDeviceEnds(t *testing.T) {
	statuses := []tuner.Status{
		tuner.OK, tuner.OK, tuner.OK, tuner.OOM, tuner.Crashed, tuner.Timeout, tuner.Diverged, tuner.Invalid, tuner.Unsupported,
	}
	rapid.Check(t, func(t *rapid.T) {
		space := tuner.Space{
			Sets: []tuner.Set{{Precision: "fp32"}, {Precision: "fp32", Knobs: "checkpointing=true"}, {Precision: "bf16", Knobs: "checkpointing=true"}},
		}
		space.Sets = space.Sets[:rapid.IntRange(1, 3).Draw(t, "sets")]
		switch rapid.IntRange(0, 2).Draw(t, "space") {
		case 0:
			space.Sizes, space.GlobalBatch = upTo(48), 48
		case 1:
			space.Sizes = upTo(rapid.IntRange(1, 500).Draw(t, "largest"))
		default:
			space.Sizes, space.Accumulations = []int{4, 6, 24, 100}, []int{1, 3, 4}
		}
		goal := tuner.Goal{
			Objective:     rapid.SampledFrom([]tuner.Objective{tuner.Throughput, tuner.Batch, tuner.Memory}).Draw(t, "objective"),
			LimitBytes:    rapid.SampledFrom([]int64{0, 1000}).Draw(t, "limit"),
			HeadroomBytes: rapid.Int64Range(0, 999).Draw(t, "headroom"),
			SoakSteps:     rapid.IntRange(0, 2).Draw(t, "soak"),
			MaxTrials:     rapid.SampledFrom([]int{0, 0, 5}).Draw(t, "most"),
		}
		space.Predicts = rapid.Bool().Draw(t, "predicts")
		fixed, sample := rapid.Float64Range(-1000, 1000).Draw(t, "foreseen, fixed"), rapid.Float64Range(-10, 100).Draw(t, "foreseen, a sample")
		answers := rapid.SliceOfN(rapid.SampledFrom(statuses), 1, 40).Draw(t, "answers")
		peaks := rapid.SliceOfN(rapid.Int64Range(0, 1100), 1, 40).Draw(t, "peaks")
		seconds := rapid.SliceOfN(rapid.Float64Range(0, 10), 1, 40).Draw(t, "seconds")
		f := search{space: space, goal: goal, run: func(n int, r tuner.Request) tuner.Trial {
			trial := tuner.Trial{Number: n, Config: r.Config, Purpose: r.Purpose, Status: answers[n%len(answers)], PeakBytes: peaks[n%len(peaks)], WallSeconds: 1}
			if trial.Status == tuner.OK {
				trial.StepSeconds = []float64{seconds[n%len(seconds)], seconds[(n+1)%len(seconds)]}
			}
			return trial
		}, foresee: func(r tuner.Request) tuner.Forecast {
			f := forecast(r, fixed, sample)
			f.RoomBytes = 1000
			return f
		}}.finish(t)
		for _, r := range f.requests {
			if len(space.Accumulations) == 3 && r.Accumulation == 2 || r.MicroBatch < space.Sizes[0] || r.MicroBatch > space.Sizes[len(space.Sizes)-1] {
				t.Fatalf("asked for %+v", r)
			}
		}
		r, err := f.tuner.Recommend()
		if err != nil {
			return
		}
		if ran := f.trials[r.Trial-1]; ran.Status != tuner.OK || ran.MicroBatch != r.MicroBatch || ran.Set() != r.Set() {
			t.Fatalf("%v is recommended for trial %+v", r.Config, ran)
		}
		if space.GlobalBatch > 0 && r.Samples() != space.GlobalBatch {
			t.Fatalf("%v has another global batch", r.Config)
		}
	})
}
