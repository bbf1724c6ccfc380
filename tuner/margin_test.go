package tuner_test

import (
	"strings"
	"testing"

	"autotune/tuner"
)

// Without a headroom, a recommendation leaves what peaks of one configuration differ by.
func TestMarginIsTheSpreadOfPeaks(t *testing.T) {
	for _, c := range []struct {
		headroom, more int64 // bytes that a soak's peak is above that of a short trial
		want           int
	}{
		{0, 0, 100}, {0, 20, 96}, {0, 21, 96}, {15, 0, 99}, {200, 20, 78},
	} {
		d := plain(100) // of 10 bytes a sample and 5 left
		run := func(n int, r tuner.Request) tuner.Trial {
			trial := d.run(n, r)
			if r.Purpose == tuner.Soak && trial.Status == tuner.OK {
				if trial.PeakBytes += c.more; trial.PeakBytes > d.limit {
					trial.Status = tuner.OOM
				}
			}
			return trial
		}
		goal := tuner.Goal{Objective: tuner.Batch, LimitBytes: d.limit, HeadroomBytes: c.headroom, SoakSteps: 2}
		f := search{space: oneSet(256), goal: goal, run: run}.finish(t)
		if r := f.recommend(t); r.MicroBatch != c.want || !r.Soaked || *r.HeadroomBytes < max(c.headroom, c.more) {
			t.Errorf("headroom %d, spread %d: recommended %v, which leaves %d, want %d", c.headroom, c.more, r.Config, *r.HeadroomBytes, c.want)
		}
		if border := f.recommend(t).Largest[0]; border.MicroBatch < c.want {
			t.Errorf("headroom %d, spread %d: border %+v", c.headroom, c.more, border)
		}
	}
}

// Memory that grows in a soak gets room, as long as there is a size that has it.
func TestGrowthDemotesTheWinner(t *testing.T) {
	for _, objective := range []tuner.Objective{tuner.Throughput, tuner.Batch, tuner.Memory} {
		for _, c := range []struct {
			growth    int64
			room      bool // for it
			mostSoaks int
		}{
			{300, true, 3}, {100000, false, 1},
		} {
			d := plain(100)
			run := func(n int, r tuner.Request) tuner.Trial {
				trial := d.run(n, r)
				if r.Purpose == tuner.Soak {
					trial.GrowthBytes, trial.Warnings = c.growth, []string{"it grows"}
				}
				return trial
			}
			f := search{space: oneSet(256), goal: tuner.Goal{Objective: objective, LimitBytes: d.limit, SoakSteps: 2}, run: run}.finish(t)
			r := f.recommend(t)
			if !r.Soaked || f.count(tuner.Soak) > c.mostSoaks || !strings.Contains(strings.Join(r.Notes, "\n"), "it grows") {
				t.Errorf("%s, growth %d: %v after %d soaks, notes %q", objective, c.growth, r.Config, f.count(tuner.Soak), r.Notes)
			}
			if leaves := *r.HeadroomBytes >= c.growth; leaves != c.room {
				t.Errorf("%s, growth %d: %v leaves %d", objective, c.growth, r.Config, *r.HeadroomBytes)
			}
		}
	}
}

// Memory that grows more with each soak does not lead to soaks without end.
func TestGrowthWithoutEnd(t *testing.T) {
	d := plain(100)
	growth := int64(0)
	run := func(n int, r tuner.Request) tuner.Trial {
		trial := d.run(n, r)
		if r.Purpose == tuner.Soak {
			growth += 20
			trial.GrowthBytes = growth
		}
		return trial
	}
	f := search{space: oneSet(256), goal: tuner.Goal{Objective: tuner.Batch, LimitBytes: d.limit, SoakSteps: 2}, run: run}.finish(t)
	if r := f.recommend(t); !r.Soaked || f.count(tuner.Soak) > 4 {
		t.Errorf("%v after %d soaks", r.Config, f.count(tuner.Soak))
	}
}
