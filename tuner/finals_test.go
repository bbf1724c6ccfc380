package tuner_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"autotune/tuner"
)

// levelDevice is a device on which all sizes from 32 on take as long a sample, but for a part that depends on the size.
func levelDevice(faster func(size int) float64) *device {
	d := plain(100)
	d.slower = func(c tuner.Config) float64 {
		seconds := math.Max(1, 32/float64(c.MicroBatch)) * float64(c.Samples()) / 1000
		return seconds / (float64(c.Accumulation) * (d.launch + d.seconds*float64(c.MicroBatch))) / faster(c.MicroBatch)
	}
	return d
}

// Configurations that are as fast as far as is known run in turn until each is known precisely.
func TestFinalsRunInTurn(t *testing.T) {
	d := levelDevice(func(int) float64 { return 1 })
	d.noise = 0.01
	goal := tuner.Goal{Objective: tuner.Throughput, LimitBytes: d.limit, SoakSteps: 2, TargetError: 0.02}
	space := global(64)
	space.Sets = append(space.Sets, tuner.Set{Precision: "bf16"})
	f := search{space: space, goal: goal, run: d.run}.finish(t)
	var finals []tuner.Config
	for i, r := range f.requests {
		if r.Purpose == tuner.Final {
			finals = append(finals, r.Config)
			if next := f.requests[i+1].Purpose; next != tuner.Final && next != tuner.Soak {
				t.Errorf("trial %d, of the finals, is followed by one for %s", i+1, next)
			}
		}
	}
	var each []tuner.Config
	for _, c := range finals {
		if !slices.Contains(each, c) {
			each = append(each, c)
		}
	}
	if n := len(each); n < 2 || len(finals) < 2*n || len(finals) > 4*n || len(finals)%n > 0 {
		t.Fatalf("finals of %v", finals)
	}
	for i, c := range finals {
		if c != each[i%len(each)] {
			t.Errorf("%v do not run in turn", finals)
		}
	}
	r := f.recommend(t)
	if !r.Soaked || !slices.Contains(each, r.Config) || !strings.Contains(strings.Join(r.Notes, "\n"), "equally fast as far as") {
		t.Errorf("recommended %v of %v, notes %q", r.Config, each, r.Notes)
	}
}

// Without a target there are no finals, and with one winner neither.
func TestNoFinals(t *testing.T) {
	clear := func(size int) float64 { return 1 + float64(size)/200 }
	same := func(int) float64 { return 1 }
	for _, c := range []struct {
		faster func(int) float64
		target float64
	}{{clear, 0.02}, {same, 0}} {
		d := levelDevice(c.faster)
		goal := tuner.Goal{Objective: tuner.Throughput, LimitBytes: d.limit, SoakSteps: 2, TargetError: c.target}
		f := search{space: global(64), goal: goal, run: d.run}.finish(t)
		if n := f.count(tuner.Final); n > 0 || !f.recommend(t).Soaked {
			t.Errorf("target %v: %d trials of the finals", c.target, n)
		}
	}
}
