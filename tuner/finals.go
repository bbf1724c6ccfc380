package tuner

import (
	"cmp"
	"math"
	"slices"
)

// The bounds of the finals.
const (
	// mostFinalists is the most configurations that are measured in turn.
	mostFinalists = 4
	// leastRounds and mostRounds are how often each is, at the least and at the most: six steps
	// are the fewest with an interval, and a round has those of a Time trial, three or more.
	leastRounds, mostRounds = 2, 4
)

// nextFinal asks for a round of a finalist: the first of those that had the fewest, so that they run in turn
// (A B C A B C) and a machine that becomes slower is slower for all of them. It goes on
// until each one's interval is within the target, or one alone is left.
func (t *Tuner) nextFinal() (Request, bool) {
	finalists := t.finalists()
	if len(finalists) < 2 {
		return Request{}, false
	}
	h := t.digest()
	next := slices.MinFunc(finalists, func(a, b Config) int { return h.rounds(a) - h.rounds(b) }) // the first of equals
	begun := slices.ContainsFunc(finalists, func(c Config) bool { return h.rounds(c) > h.rounds(next) })
	precise := !slices.ContainsFunc(finalists, func(c Config) bool { return t.errorOf(c) > t.goal.TargetError })
	if done := h.rounds(next); !begun && (done >= mostRounds || done >= leastRounds && precise) {
		return Request{}, false
	}
	request := t.timeRequest(next, float64(next.Samples())/math.Exp(h.logRate(next, h.speeds())))
	request.Purpose = Final
	return request, true
}

// finalists are the measured configurations that may be the fastest as far as is known, mostFinalists
// at most, in an order that stays.
func (t *Tuner) finalists() []Config {
	fastest, ok := t.fastest()
	if t.goal.Objective != Throughput || t.goal.TargetError == 0 || !ok || !t.digest().timed(fastest) || t.proved() {
		return nil
	}
	h := t.digest()
	list := slices.DeleteFunc(t.proven(), func(c Config) bool { return !h.timed(c) || c != fastest && !h.equallyFast(c, fastest) })
	byRate := slices.Clone(list)
	slices.SortStableFunc(byRate, func(a, b Config) int { return cmp.Compare(h.logRate(b, h.speeds()), h.logRate(a, h.speeds())) })
	left := byRate[:min(len(byRate), mostFinalists)]
	return slices.DeleteFunc(list, func(c Config) bool { return !slices.Contains(left, c) })
}

// rounds is how many rounds of the finals a configuration ran.
func (h *history) rounds(c Config) int {
	n := 0
	for _, t := range h.ran(c) {
		if t.Purpose == Final {
			n++
		}
	}
	return n
}

// measured gives the trials that tell how fast a configuration is: its rounds of the finals where
// it had some, which were run in turn with the others', else all that ran.
func (h *history) measured(c Config) []Trial {
	ran := h.ran(c)
	if h.rounds(c) == 0 {
		return ran
	}
	return slices.DeleteFunc(ran, func(t Trial) bool { return t.Purpose != Final })
}

// errorOf is half the width of the interval of a configuration's throughput, as a part of it; 1 without one.
func (t *Tuner) errorOf(c Config) float64 {
	i := throughputOf(c, secondsOf(t.digest().measured(c)))
	if i.Low == i.High || i.Median == 0 {
		return 1
	}
	return (i.High - i.Low) / 2 / i.Median
}

// finalsLeft estimates the number of rounds that are left.
func (t *Tuner) finalsLeft() int {
	left := 0
	for _, c := range t.finalists() {
		left += max(0, leastRounds-t.digest().rounds(c))
	}
	return max(1, left)
}
