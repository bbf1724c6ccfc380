package tuner

import (
	"errors"
	"fmt"
	"slices"
)

// Space says which configurations are allowed.
type Space struct {
	// Sets are the precisions with their knobs, in the order in which they are tried; one or more.
	Sets []Set
	// Sizes are the micro-batches allowed, rising, each 1 or more; one or more.
	Sizes []int
	// Accumulations are the accumulation steps allowed, rising; empty: whatever the global batch asks for
	// (1 where any global batch will do).
	Accumulations []int
	// GlobalBatch is the number of samples per optimizer step that the recommendation must have; 0: any.
	GlobalBatch int
	// WarmupSteps is the number of optimizer steps of a trial before the clock counts; 0: 1.
	WarmupSteps int
	// Predicts says that Next may ask for forecasts.
	Predicts bool
}

// check says what is wrong with the space, or nil.
func (s Space) check() error {
	switch {
	case len(s.Sets) == 0:
		return errors.New("no precision to search")
	case len(s.Sizes) == 0:
		return errors.New("no micro-batch to search")
	case s.Sizes[0] < 1:
		return fmt.Errorf("micro-batch %d is below 1", s.Sizes[0])
	case s.GlobalBatch < 0:
		return fmt.Errorf("global batch %d is below 0", s.GlobalBatch)
	case s.WarmupSteps < 0:
		return fmt.Errorf("%d warm-up steps are below 0", s.WarmupSteps)
	case len(s.Accumulations) > 0 && s.Accumulations[0] < 1:
		return fmt.Errorf("accumulation steps %d are below 1", s.Accumulations[0])
	}
	if !strictlyRising(s.Sizes) {
		return errors.New("the micro-batches do not rise")
	}
	if !strictlyRising(s.Accumulations) {
		return errors.New("the accumulation steps do not rise")
	}
	if s.GlobalBatch > 0 && len(s.recommendable()) == 0 {
		return fmt.Errorf("no allowed micro-batch and accumulation steps make the global batch %d; allow one of its divisors as micro-batch", s.GlobalBatch)
	}
	return nil
}

func strictlyRising(values []int) bool {
	for i := 1; i < len(values); i++ {
		if values[i] <= values[i-1] {
			return false
		}
	}
	return true
}

// warmup is the number of warm-up steps of a trial.
func (s Space) warmup() int { return max(1, s.WarmupSteps) }

// steps gives the accumulation steps that a recommendation of the size may have, rising.
func (s Space) steps(size int) []int {
	if s.GlobalBatch > 0 {
		steps := s.GlobalBatch / size
		if steps*size != s.GlobalBatch || !s.accumulates(steps) {
			return nil
		}
		return []int{steps}
	}
	if len(s.Accumulations) == 0 {
		return []int{1}
	}
	return s.Accumulations
}

// shortest gives the least accumulation steps allowed of a class: the cheapest way
// to see what fits. Where none is allowed it is the class itself.
func (s Space) shortest(class int) int {
	for _, steps := range s.Accumulations {
		if steps >= class {
			return steps
		}
	}
	return class
}

// accumulates says whether the accumulation steps are allowed.
func (s Space) accumulates(steps int) bool {
	return len(s.Accumulations) == 0 || slices.Contains(s.Accumulations, steps)
}

// recommendable gives the sizes that a recommendation may have, rising.
func (s Space) recommendable() []int {
	if s.GlobalBatch == 0 {
		return s.Sizes
	}
	var sizes []int
	for _, size := range s.Sizes {
		if size > s.GlobalBatch {
			break
		}
		if len(s.steps(size)) > 0 {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

// end names what bounds the sizes from above.
func (s Space) end() string {
	if s.Sizes[len(s.Sizes)-1] == s.GlobalBatch {
		return "global batch"
	}
	return "batch range"
}
