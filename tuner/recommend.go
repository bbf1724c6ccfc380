package tuner

import (
	"errors"
	"fmt"
	"slices"
)

// The errors of Recommend.
var (
	// ErrNothingFits says that no configuration fits into the limit and leaves the headroom.
	ErrNothingFits = errors.New("nothing fits")
	// ErrNoAnswer says that no configuration was proven, for another reason than memory.
	ErrNoAnswer = errors.New("no configuration was proven")
)

// Recommend gives the answer from the trials observed so far. Where there is none
// the error wraps ErrNothingFits or ErrNoAnswer and says what was seen.
func (t *Tuner) Recommend() (Recommendation, error) {
	best, ok := t.choice()
	if !ok {
		return Recommendation{}, t.noAnswer()
	}
	trial := t.figures(best)
	r := Recommendation{
		Config:     best,
		Throughput: trial.Throughput(),
		PeakBytes:  trial.PeakBytes,
		Trial:      trial.Number,
		Soaked:     trial.Purpose == Soak,
		Reason:     t.reason(best),
		Largest:    t.borders(best),
		Notes:      t.notes(best, trial),
	}
	if limit := t.goal.LimitBytes; limit > 0 && trial.PeakBytes > 0 {
		left := limit - trial.PeakBytes
		r.HeadroomBytes = &left
	}
	return r, nil
}

// figures gives the trial that the recommendation's figures come from: the soak,
// else the longest trial of the configuration, else one with fewer accumulation steps.
func (t *Tuner) figures(best Config) Trial {
	h := t.digest()
	if soak := h.soaked(best); soak != nil {
		return *soak
	}
	trials := h.ran(best)
	if len(trials) == 0 {
		trials = h.ran(t.shortOf(best))
	}
	var longest Trial
	for _, trial := range trials {
		if longest.Number == 0 || len(trial.StepSeconds) > len(longest.StepSeconds) {
			longest = trial
		}
	}
	return longest
}

// noAnswer is the error where nothing can be recommended.
func (t *Tuner) noAnswer() error {
	h := t.digest()
	var oom, other, least Trial
	for _, trial := range h.trials {
		switch trial.Status {
		case OK:
		case OOM:
			oom = smaller(oom, trial)
		default:
			other = smaller(other, trial)
		}
		if trial.PeakBytes > 0 && (least.Number == 0 || trial.PeakBytes < least.PeakBytes) {
			least = trial
		}
	}
	outOfMemory := oom.Number > 0 || h.safeLimit() > 0 && least.PeakBytes > h.safeLimit()
	if other.Number > 0 && oom.Number > 0 && other.MicroBatch < oom.MicroBatch || t.ranSafely() {
		outOfMemory = false // smaller sizes fail too, or this one did another time, and not for memory
	}
	switch {
	case len(h.trials) == 0:
		return fmt.Errorf("%w: no trial ran", ErrNoAnswer)
	case t.spent() && len(t.candidates()) > 0:
		return fmt.Errorf("%w before the bound on %s was reached", ErrNoAnswer, t.bound())
	case !outOfMemory:
		return fmt.Errorf("%w: trial %d (%s) ended as %s", ErrNoAnswer, other.Number, other.Config, other.Status)
	case least.Number > 0:
		return fmt.Errorf("%w: the smallest peak seen is %d bytes, of trial %d (%s), with a limit of %d bytes and a headroom of %d",
			ErrNothingFits, least.PeakBytes, least.Number, least.Config, t.goal.LimitBytes, t.goal.HeadroomBytes)
	}
	return fmt.Errorf("%w: trial %d (%s) ran out of memory", ErrNothingFits, oom.Number, oom.Config)
}

// ranSafely says whether a configuration that may be recommended ran in a trial and left the headroom.
func (t *Tuner) ranSafely() bool {
	h := t.digest()
	return slices.ContainsFunc(h.trials, func(trial Trial) bool {
		fits := h.safeLimit() == 0 || trial.PeakBytes <= h.safeLimit()
		return trial.Status == OK && fits && slices.Contains(t.space.steps(trial.MicroBatch), trial.Accumulation)
	})
}

// smaller gives the trial of the smaller size, the first where there is no other.
func smaller(a, b Trial) Trial {
	if a.Number == 0 || b.MicroBatch < a.MicroBatch {
		return b
	}
	return a
}

// borders gives the border of each set, in the class of the recommendation.
func (t *Tuner) borders(best Config) []Border {
	borders := make([]Border, len(t.space.Sets))
	for i, set := range t.space.Sets {
		borders[i] = t.border(set, class(best.Accumulation))
	}
	return borders
}

func (t *Tuner) border(set Set, class int) Border {
	b := Border{Set: set, Accumulation: t.space.shortest(class)}
	search := t.fitSearch(set, class)
	low, _ := search.bracket()
	if low >= 0 {
		ran, _ := search.ledger.lookup(search.sizes[low])
		b.MicroBatch, b.RanTrial = ran.batch, ran.ranTrial
	}
	switch {
	case low+1 < len(search.sizes):
	case len(search.sizes) == 0 || search.sizes[len(search.sizes)-1] < t.space.Sizes[len(t.space.Sizes)-1]:
		b.Bound = BoundData
		return b
	default:
		b.Bound = t.space.end()
		return b
	}
	switch next, _ := search.ledger.lookup(search.sizes[low+1]); {
	case t.digest().unsupported(set):
		b.Bound = string(Unsupported)
	case next.failTrial > 0:
		b.FailedTrial, b.Bound = &next.failTrial, "memory"
	case next.blocked():
		b.Bound = string(next.hole)
	case t.spent():
		b.Bound = t.bound()
	default:
		b.Bound = "not searched to its end"
	}
	return b
}
