package main

import (
	"math/rand/v2"
	"slices"

	"autotune/harness"
)

// draw gives a pair of runs from the recorded noise: as many repeats as bench makes, and as
// many that came right after them, so that the machine's drift is in the pair as it is
// where one run follows the other.
func draw(noise *harness.Run, seed uint64) (before, after *harness.Run) {
	const size = harness.DefaultRepeat
	from := rand.New(rand.NewPCG(seed, 0)).IntN(len(noise.Trials) - 2*size + 1)
	return part(noise, from, size), part(noise, from+size, size)
}

// part is a run of some of a run's repeats.
func part(run *harness.Run, from, size int) *harness.Run {
	p := *run
	p.Trials = slices.Clone(run.Trials[from : from+size])
	for i := range p.Trials {
		p.Trials[i].Number, p.Trials[i].Repeat = i+1, i+1
	}
	return &p
}

// slowed is the run with a part less throughput: each step takes so much longer.
func slowed(run *harness.Run, loss float64) *harness.Run {
	s := part(run, 0, len(run.Trials))
	for i := range s.Trials {
		steps := slices.Clone(s.Trials[i].StepSeconds)
		for j := range steps {
			steps[j] /= 1 - loss
		}
		s.Trials[i].StepSeconds = steps
		s.Trials[i].WallSeconds /= 1 - loss
	}
	return s
}
