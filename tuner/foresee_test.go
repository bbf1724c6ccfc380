package tuner_test

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autotune/tuner"
)

// forecast is that of a request by one line.
func forecast(r tuner.Request, fixed, sample float64) tuner.Forecast {
	return tuner.Forecast{Set: r.Set(), Accumulation: r.Accumulation, Lines: []tuner.ForecastLine{{Fixed: fixed, PerSample: sample}}}
}

// foreseen lets a space ask for forecasts.
func foreseen(space tuner.Space) tuner.Space {
	space.Predicts = true
	return space
}

// With an exact forecast a border takes three trials: an eighth of it, itself, and the next size.
func TestExactForecast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		border := rapid.IntRange(16, 60000).Draw(t, "border")
		d := plain(border)
		d.tells = rapid.Bool().Draw(t, "peaks of failures known")
		s := search{space: foreseen(oneSet(65536)), goal: tuner.Goal{Objective: tuner.Batch, LimitBytes: d.limit, SoakSteps: 1}, run: d.run}
		s.foresee = func(r tuner.Request) tuner.Forecast { return forecast(r, 100, 10) }
		room := rapid.Bool().Draw(t, "room instead of a limit")
		if room {
			s.goal.LimitBytes = 0
			s.foresee = func(r tuner.Request) tuner.Forecast {
				f := forecast(r, 100, 10)
				f.RoomBytes = d.limit
				return f
			}
		}
		f := s.finish(t)
		sizes := []int{}
		for _, trial := range f.trials {
			if trial.Purpose == tuner.Fit {
				sizes = append(sizes, trial.MicroBatch)
			}
		}
		if want := []int{border / 8, border, border + 1}; !slices.Equal(sizes, want) || len(f.forecasts) != 1 {
			t.Fatalf("tried %v after %d forecasts, want %v after 1", sizes, len(f.forecasts), want)
		}
		if r := f.recommend(t); r.MicroBatch != border || r.Largest[0].FailedTrial == nil || room && r.HeadroomBytes != nil {
			t.Fatalf("recommended %+v", r)
		}
	})
}

// A forecast that is off by 3%, in every byte or in those a sample, takes two trials more at most.
func TestForecastOffByALittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := plain(rapid.IntRange(16, 60000).Draw(t, "border"))
		d.fixed = rapid.Int64Range(0, 100000).Draw(t, "fixed")
		d.limit += d.fixed - 100
		factor := rapid.SampledFrom([]float64{0.97, 1.03}).Draw(t, "factor")
		fixed := factor
		if rapid.Bool().Draw(t, "only the bytes a sample are off") {
			fixed = 1
		}
		s := search{space: foreseen(oneSet(65536)), goal: tuner.Goal{Objective: tuner.Batch, LimitBytes: d.limit, SoakSteps: 1}, run: d.run}
		s.foresee = func(r tuner.Request) tuner.Forecast { return forecast(r, fixed*float64(d.fixed), factor*10) }
		f := s.finish(t)
		if n := f.count(tuner.Fit); n > 5 {
			t.Fatalf("%d trials: %v", n, f.requests)
		}
	})
}

// drawForecast draws a forecast of the peaks: right, off by a factor or a step, or nonsense.
func drawForecast(t *rapid.T, peak func(size int) int64, largest int) []tuner.ForecastLine {
	first, last := float64(peak(1)), float64(peak(largest))
	slope := (last - first) / float64(max(1, largest-1))
	right := tuner.ForecastLine{Fixed: first - slope, PerSample: slope}
	off := func(factor float64) []tuner.ForecastLine {
		return []tuner.ForecastLine{{Fixed: factor * right.Fixed, PerSample: factor * right.PerSample}}
	}
	switch rapid.IntRange(0, 7).Draw(t, "forecast") {
	case 0:
		return off(1)
	case 1:
		return off(rapid.SampledFrom([]float64{0.97, 1.03, 0.7, 1.3}).Draw(t, "factor"))
	case 2:
		return off(rapid.Float64Range(-100, 100).Draw(t, "wild factor"))
	case 3:
		return []tuner.ForecastLine{right, {Fixed: right.Fixed - last, PerSample: 2 * right.PerSample}}
	case 4:
		return []tuner.ForecastLine{{Fixed: rapid.Float64Range(0, 1e11).Draw(t, "constant")}}
	case 5:
		return []tuner.ForecastLine{{}}
	case 6:
		return []tuner.ForecastLine{{Fixed: last, PerSample: -right.PerSample}}
	default:
		return nil
	}
}

// Whatever a forecast says, with a limit or with room that is off by 2% or nonsense: the
// border is exact and takes no more than about twice a bisection.
func TestForecastsDecideNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		peak := drawPeak(t)
		largest := rapid.IntRange(1, 5000).Draw(t, "largest")
		limit := peak(rapid.IntRange(1, 6000).Draw(t, "border"))
		known := rapid.Bool().Draw(t, "limit known")
		tells := rapid.Bool().Draw(t, "peaks known")
		lines := drawForecast(t, peak, largest)
		room := rapid.SampledFrom([]float64{0, 0.98, 1, 1.02, 1000}).Draw(t, "room")
		border := 0
		for border < largest && peak(border+1) <= limit {
			border++
		}
		s := search{space: foreseen(oneSet(largest)), goal: tuner.Goal{Objective: tuner.Batch, SoakSteps: 1}}
		if known {
			s.goal.LimitBytes = limit
		}
		s.foresee = func(r tuner.Request) tuner.Forecast {
			return tuner.Forecast{Set: r.Set(), Accumulation: r.Accumulation, Lines: lines, RoomBytes: int64(room * float64(limit))}
		}
		s.run = func(n int, r tuner.Request) tuner.Trial {
			trial := tuner.Trial{Number: n, Config: r.Config, Purpose: r.Purpose, Status: tuner.OK, StepSeconds: []float64{1, 1}, WallSeconds: 3}
			if tells {
				trial.PeakBytes = peak(r.MicroBatch)
			}
			if peak(r.MicroBatch) > limit {
				trial.Status, trial.PeakBytes, trial.StepSeconds = tuner.OOM, 0, nil
			}
			return trial
		}
		f := s.finish(t)
		if most := 2*bits.Len(uint(largest)) + 4; f.count(tuner.Fit) > most {
			t.Fatalf("%d trials for %d sizes, want at most %d", f.count(tuner.Fit), largest, most)
		}
		r, err := f.tuner.Recommend()
		if border == 0 {
			if err == nil {
				t.Fatalf("nothing fits, recommended %v", r.Config)
			}
			return
		}
		if err != nil || r.MicroBatch != border || r.Largest[0].MicroBatch != border {
			t.Fatalf("border %d, recommended %v with %+v, %v", border, r.Config, r.Largest, err)
		}
		if (border < largest) != (r.Largest[0].FailedTrial != nil) {
			t.Fatalf("border %d of %d: %+v", border, largest, r.Largest[0])
		}
		checkBorder(t, f, r.Largest[0], s.space.Sizes)
	})
}

// One forecast is asked for a set and class, before its first trial, and none where
// nothing could be held against it. Those that failed are not asked for again.
func TestForecastsAreAskedOnce(t *testing.T) {
	space := foreseen(global(128))
	space.Sets = []tuner.Set{{Precision: "fp32"}, {Precision: "fp32", Knobs: "checkpointing=on"}, {Precision: "bf16"}}
	for _, c := range []struct {
		name        string
		limit, room int64
		failed      bool
		most        int
	}{{"limit", 1105, 0, false, 6}, {"room", 0, 1105, false, 6}, {"neither", 0, 0, false, 1}, {"failed", 1105, 0, true, 6}} {
		t.Run(c.name, func(t *testing.T) {
			d := plain(100)
			trials := 0
			seen := map[string]bool{}
			s := search{space: space, goal: tuner.Goal{Objective: tuner.Throughput, LimitBytes: c.limit, SoakSteps: 1}}
			s.run = func(n int, r tuner.Request) tuner.Trial {
				trials++
				seen[fmt.Sprint(r.Set(), min(r.Accumulation, 2))] = true
				return d.run(n, r)
			}
			s.foresee = func(r tuner.Request) tuner.Forecast {
				if r.MicroBatch != 0 || r.Accumulation > 2 || r.WarmupSteps != 0 || seen[fmt.Sprint(r.Set(), r.Accumulation)] {
					t.Errorf("a forecast was asked for by %+v after %d trials", r, trials)
				}
				if c.failed {
					return tuner.Forecast{Set: r.Set(), Accumulation: r.Accumulation}
				}
				f := forecast(r, 100, 10)
				f.RoomBytes = c.room
				return f
			}
			f := s.finish(t)
			if n := len(f.forecasts); n == 0 || n > c.most {
				t.Errorf("%d forecasts, want 1 to %d", n, c.most)
			}
			if r := f.recommend(t); r.MicroBatch != 64 || r.Largest[0].MicroBatch != 100 {
				t.Errorf("recommended %v with %+v", r.Config, r.Largest)
			}
		})
	}
}

// What is compared first are sizes that are foreseen to fit, and the class of one trial
// beside the border is not worth a forecast.
func TestForecastsChooseTheFirstLooks(t *testing.T) {
	d := plain(10)
	space := foreseen(global(128))
	space.Sets = []tuner.Set{{Precision: "fp32"}, {Precision: "bf16"}}
	s := search{space: space, goal: tuner.Goal{Objective: tuner.Throughput, LimitBytes: d.limit, SoakSteps: 1}, run: d.run}
	s.foresee = func(r tuner.Request) tuner.Forecast { return forecast(r, 100, 10) }
	f := s.finish(t)
	if first := f.trials[0]; first.Status != tuner.OK || first.MicroBatch > 8 {
		t.Errorf("the first trial is %+v", first)
	}
	space.Sets = space.Sets[:1]
	s.space, d.limit = space, plain(100).limit
	if f = s.finish(t); len(f.forecasts) != 1 || f.forecasts[0].Accumulation != 2 {
		t.Errorf("forecasts %+v", f.forecasts)
	}
}

// A search with forecasts goes on from its journal as it would have gone on, though
// the forecasts are told after the trials.
func TestForecastsAreResumed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := plain(rapid.IntRange(0, 200).Draw(t, "border"))
		d.grads = rapid.Int64Range(0, 100).Draw(t, "gradients")
		factor := rapid.Float64Range(0.5, 2).Draw(t, "factor")
		space := foreseen(global(128))
		space.Sets = []tuner.Set{{Precision: "fp32"}, {Precision: "fp64"}}
		s := search{
			space: space, run: d.run,
			goal: tuner.Goal{
				Objective:  rapid.SampledFrom([]tuner.Objective{tuner.Throughput, tuner.Batch, tuner.Memory}).Draw(t, "objective"),
				LimitBytes: d.limit, SoakSteps: 1,
			},
			foresee: func(r tuner.Request) tuner.Forecast { return forecast(r, 100*factor, 10*factor) },
		}
		whole := s.finish(t)
		cut := rapid.IntRange(0, len(whole.trials)).Draw(t, "cut")
		var told []tuner.Forecast
		for i, f := range whole.forecasts {
			if n := whole.after[i]; n < cut || n == cut && rapid.Bool().Draw(t, "the forecast at the cut was written") {
				told = append(told, f)
			}
		}
		resumed := s.resume(t, slices.Clone(whole.trials[:cut]), told...)
		if !reflect.DeepEqual(resumed.requests, append([]tuner.Request(nil), whole.requests[cut:]...)) {
			t.Fatalf("after %d trials: asked %v, the whole run %v", cut, resumed.requests, whole.requests[cut:])
		}
		a, errA := whole.tuner.Recommend()
		b, errB := resumed.tuner.Recommend()
		if !reflect.DeepEqual(a, b) || (errA == nil) != (errB == nil) {
			t.Fatalf("after %d trials: %+v, %v; the whole run %+v, %v", cut, b, errB, a, errA)
		}
	})
}

// Left counts trials, not forecasts, and few where the border is foreseen.
func TestLeftWithForecasts(t *testing.T) {
	d := plain(1000)
	s, err := tuner.New(foreseen(oneSet(65536)), tuner.Goal{Objective: tuner.Batch, LimitBytes: d.limit})
	if err != nil {
		t.Fatal(err)
	}
	r, _ := s.Next()
	if trials, _ := s.Left(); r.Purpose != tuner.Predict || trials != 4 {
		t.Errorf("before the forecast %d trials are left; asked %+v", trials, r)
	}
	s.Foresee(forecast(r, 100, 10))
	for n, most := range []int{4, 3, 2} {
		if trials, _ := s.Left(); trials < 1 || trials > most {
			t.Errorf("after %d trials %d are left, want at most %d", n, trials, most)
		}
		r, _ := s.Next()
		s.Observe(d.run(n+1, r))
	}
}

// Warm-up steps of the space go into every request, and a fit trial is no longer than it must be.
func TestWarmupSteps(t *testing.T) {
	for _, c := range []struct{ warmup, accumulation, steps int }{{0, 1, 2}, {0, 2, 1}, {1, 1, 2}, {2, 1, 1}, {2, 2, 1}, {3, 1, 1}} {
		d := plain(40)
		space := tuner.Space{Sets: oneSet(1).Sets, Sizes: upTo(64), Accumulations: []int{c.accumulation}, WarmupSteps: c.warmup}
		f := search{space: space, goal: tuner.Goal{Objective: tuner.Throughput, LimitBytes: d.limit, SoakSteps: 2}, run: d.run}.finish(t)
		for _, r := range f.requests {
			if r.WarmupSteps != max(1, c.warmup) || r.Purpose == tuner.Fit && r.Steps != c.steps {
				t.Errorf("warm-up of %d, accumulation %d: %+v", c.warmup, c.accumulation, r)
			}
		}
	}
}
