package study_test

import (
	"testing"

	"autotune/workloads/simulated"
	"autotune/workloads/simulated/study"
)

// whole says that the tests run all devices, so that shares and medians can be judged.
const whole = part == 1

// eachRange runs the test on both ranges of devices, side by side.
func eachRange(t *testing.T, test func(t *testing.T, seeds study.Seeds)) {
	for _, seeds := range []study.Seeds{study.Known, study.Unseen} {
		seeds.Last = seeds.First + (seeds.Last-seeds.First)/part
		t.Run(seeds.String(), func(t *testing.T) {
			t.Parallel()
			test(t, seeds)
		})
	}
}

// The goals of the border, over devices with a sharp one: it is exact always;
// trials have a median of at most 8, a 95th percentile of at most 24 and a maximum
// of at most 32; the time is in the median at most 0.6 of Lightning's doubling and
// bisection.
func TestGoalsOfTheBorder(t *testing.T) {
	eachRange(t, func(t *testing.T, seeds study.Seeds) {
		ours, err := study.FindAll(study.Ours(), seeds, simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		reference, err := study.FindAll(study.Reference(), seeds, simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for _, f := range ours {
			if !f.Proven {
				if wrong++; wrong <= 5 {
					t.Errorf("device %d: border %d, found %d, or not proven", f.Seed, f.Border, f.Size)
				}
			}
		}
		trials := study.Summarise(study.Figures(ours, func(f study.Find) float64 { return float64(f.Trials) }))
		search, all := study.SecondsRatio(ours, reference)
		seconds, timed := study.Summarise(search), study.Summarise(all)
		t.Logf("%v: %d borders wrong; trials: median %v, 95%% %v, maximum %v; time: median %.3f of Lightning's, %.3f with timing",
			seeds, wrong, trials.Median, trials.P95, trials.Max, seconds.Median, timed.Median)
		if wrong > 0 || trials.Max > 32 || whole && (trials.Median > 8 || trials.P95 > 24 || seconds.Median > 0.6) {
			t.Errorf("%v: want no border wrong, trials of at most 8, 24 and 32, and 0.6 of Lightning's time", seeds)
		}
	})
}

// The goals of the border with forecasts: it is exact always, however wrong they are, and
// takes no more than the goal without them; where they are right, the median is 4. Those that
// are wrong are tried on a tenth of the devices.
func TestGoalsOfForecasts(t *testing.T) {
	eachRange(t, func(t *testing.T, seeds study.Seeds) {
		for i, s := range append(study.Foreseen(), study.OursForeseen("nonsense", 100)) {
			if i == 1 {
				seeds.Last = seeds.First + (seeds.Last-seeds.First)/10
			}
			finds, err := study.FindAll(s, seeds, simulated.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range finds {
				if !f.Proven {
					t.Fatalf("%s, device %d: border %d, found %d, or not proven", s.Name, f.Seed, f.Border, f.Size)
				}
			}
			trials := study.Summarise(study.Figures(finds, func(f study.Find) float64 { return float64(f.Trials) }))
			t.Logf("%v, %s: trials: median %v, mean %.2f, 95%% %v, maximum %v", seeds, s.Name, trials.Median, trials.Mean, trials.P95, trials.Max)
			if trials.Max > 32 || whole && i == 0 && trials.Median > 4 {
				t.Errorf("%v, %s: want at most 32 trials, and a median of 4 where the forecast is right", seeds, s.Name)
			}
		}
	})
}

// The goal of the throughput: at least 98% of brute force's on at least 95% of the
// devices, with any global batch and with a given one.
func TestGoalsOfTheThroughput(t *testing.T) {
	eachRange(t, func(t *testing.T, seeds study.Seeds) {
		for _, globalBatch := range []int{0, 1024} {
			speeds, err := study.Fastest(seeds, simulated.Options{}, globalBatch)
			if err != nil {
				t.Fatal(err)
			}
			near, trials, worst := 0, 0, speeds[0]
			for _, s := range speeds {
				if s.Best.MicroBatch == 0 && s.Chosen.MicroBatch == 0 { // nothing fits
					near++
					continue
				}
				if s.Share >= 0.98 {
					near++
				}
				if s.Share < worst.Share {
					worst = s
				}
				trials += s.Trials
			}
			share := float64(near) / float64(len(speeds))
			t.Logf("%v, global batch %d (0: any): %.1f%% of the devices reach 98%%; %.1f trials in the mean; worst: device %d, %v for %v, %.3f",
				seeds, globalBatch, 100*share, float64(trials)/float64(len(speeds)), worst.Seed, worst.Chosen, worst.Best, worst.Share)
			if whole && share < 0.95 {
				t.Errorf("%v, global batch %d: want 95%%", seeds, globalBatch)
			}
		}
	})
}

// The goal of the recorded surfaces: at least 98% of the best on 90% of them, with at
// most half of their configurations tried (six where there are fewer than twelve).
func TestGoalsOfTheSurfaces(t *testing.T) {
	for name, order := range map[string]study.Order{"recorded": study.Recorded, "reversed": study.Reversed} {
		replays, err := study.ReplayAll(order)
		if err != nil {
			t.Fatal(err)
		}
		near := 0
		for _, r := range replays {
			if r.Tried > r.Budget {
				t.Errorf("%s order, %s: %d configurations tried, want at most %d", name, r.Surface.Name, r.Tried, r.Budget)
			}
			if r.Share >= 0.98 {
				near++
			} else {
				t.Logf("%s order, %s: %.3f of the best with %d of %d configurations", name, r.Surface.Name, r.Share, r.Tried, len(r.Surface.Points))
			}
		}
		t.Logf("%s order: %d of %d surfaces reach 98%%", name, near, len(replays))
		if float64(near) < 0.9*float64(len(replays)) {
			t.Errorf("%s order: want 90%% of the surfaces", name)
		}
	}
}
