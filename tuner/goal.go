package tuner

import (
	"errors"
	"fmt"
)

// Objective says which of the configurations that fit is the best.
type Objective string

// The objectives.
const (
	Throughput Objective = "throughput" // the most samples per second
	Batch      Objective = "batch"      // the largest micro-batch that fits
	Memory     Objective = "memory"     // the least memory within 10% of the best throughput
)

// Goal says what is wanted and what bounds the search.
type Goal struct {
	Objective Objective
	// LimitBytes is the memory limit; 0: none, only a real failure ends the search.
	LimitBytes int64
	// HeadroomBytes is what the recommendation must leave of the limit; the border ignores it. 0: by how
	// much the peaks of one configuration were seen to differ.
	HeadroomBytes int64
	// TargetError is how precisely the throughputs of configurations that may be the fastest are to be known: half
	// the width of the 95% interval of the median, as a part of it. 0: they are not measured again.
	TargetError float64
	// MaxTrials is the most trials before the soak; 0: no bound.
	MaxTrials int
	// MaxSeconds is the most time that trials before the soak may take together, in seconds; 0: no bound.
	MaxSeconds float64
	// SoakSteps and SoakSeconds say how long the soak runs: until both are reached. SoakSteps 0: no soak.
	SoakSteps   int
	SoakSeconds float64
}

// check says what is wrong with the goal, or nil.
func (g Goal) check() error {
	switch {
	case g.Objective != Throughput && g.Objective != Batch && g.Objective != Memory:
		return fmt.Errorf("unknown objective %q: use throughput, batch or memory", g.Objective)
	case g.LimitBytes < 0 || g.HeadroomBytes < 0 || g.MaxTrials < 0 || g.SoakSteps < 0:
		return errors.New("a bound is below 0")
	case !(g.TargetError >= 0 && g.TargetError < 1):
		return errors.New("the target error is not from 0 to below 1")
	case !(g.MaxSeconds >= 0) || !(g.SoakSeconds >= 0):
		return errors.New("a time is below 0")
	case g.LimitBytes > 0 && g.HeadroomBytes >= g.LimitBytes:
		return fmt.Errorf("the headroom of %d bytes leaves nothing of the limit of %d", g.HeadroomBytes, g.LimitBytes)
	}
	return nil
}
