package recorded

import (
	"maps"
	"slices"

	"autotune/tuner"
)

// Space is the least space that has all configurations of the surface. It may
// have others, which were never recorded. The global batch is set where several
// accumulation steps were recorded and all make the same one.
func (s Surface) Space() tuner.Space {
	var space tuner.Space
	sizes, accumulations, samples := map[int]bool{}, map[int]bool{}, map[int]bool{}
	for _, p := range s.Points {
		sizes[p.MicroBatch], accumulations[p.Accumulation], samples[p.Samples()] = true, true, true
		if !slices.Contains(space.Sets, p.Set()) {
			space.Sets = append(space.Sets, p.Set())
		}
	}
	space.Sizes = slices.Sorted(maps.Keys(sizes))
	space.Accumulations = slices.Sorted(maps.Keys(accumulations))
	if len(accumulations) > 1 && len(samples) == 1 {
		space.GlobalBatch = s.Points[0].Samples()
	}
	return space
}

// Run replays the request as the trial of the number; false: the configuration was
// never recorded. All steps take the recorded time: samples over score. A run whose
// peak passes the card's memory is out of memory, as it is to a harness that knows
// the limit.
func (s Surface) Run(number int, r tuner.Request) (tuner.Trial, bool) {
	p, ok := s.find(r.Config)
	if !ok {
		return tuner.Trial{}, false
	}
	t := tuner.Trial{Number: number, Config: r.Config, Purpose: r.Purpose, Status: p.Status, PeakBytes: p.PeakBytes}
	if p.Status != tuner.OK {
		return t, true
	}
	if s.MemoryBytes > 0 && p.PeakBytes > s.MemoryBytes {
		t.Status = tuner.OOM
	}
	step := float64(p.Samples()) / p.Score
	var timed float64
	for len(t.StepSeconds) < r.Steps || timed < r.Seconds {
		t.StepSeconds = append(t.StepSeconds, step)
		timed += step
	}
	t.WallSeconds = timed + float64(r.WarmupSteps)*step
	return t, true
}
