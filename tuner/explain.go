package tuner

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// reason says in a sentence why the configuration is the best.
func (t *Tuner) reason(best Config) string {
	fastest, _ := t.fastest()
	rate := math.Exp(t.digest().logRate(fastest, t.digest().speeds()))
	switch {
	case t.goal.Objective == Batch && t.space.GlobalBatch > 0:
		return fmt.Sprintf("the largest micro-batch that fits and divides the global batch of %d", t.space.GlobalBatch)
	case t.goal.Objective == Batch:
		return "the largest micro-batch that fits"
	case t.goal.Objective == Memory && best != fastest:
		return fmt.Sprintf("the least memory within 10%% of the best throughput (%s, %.4g samples/s)", fastest, rate)
	case t.goal.Objective == Memory:
		return "the highest throughput, and no configuration within 10% of it needs less memory"
	case best != fastest:
		return fmt.Sprintf("as fast as the fastest (%s, %.4g samples/s) as far as the measurements tell, with less memory", fastest, rate)
	}
	which := "that fit"
	if t.space.GlobalBatch > 0 {
		which = fmt.Sprintf("with global batch %d that fit", t.space.GlobalBatch)
	}
	return fmt.Sprintf("the highest throughput of the configurations %s%s", which, t.predicted())
}

// predicted says how many of the configurations that are compared were not timed
// themselves, as the end of a sentence; empty: all were.
func (t *Tuner) predicted() string {
	h := t.digest()
	n := 0
	for _, c := range t.proven() {
		if !h.timed(c) {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of them were predicted from shorter trials and other sizes", n)
}

// notes gives the sentences that the user should read.
func (t *Tuner) notes(best Config, figures Trial) []string {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	h := t.digest()
	for _, set := range t.space.Sets {
		if h.unsupported(set) {
			note("%s is not supported here and was left out", set)
		} else if !slices.ContainsFunc(h.trials, func(t Trial) bool { return t.Set() == set && t.Status == OK }) {
			note("%s never ran to the end of a trial", set)
		}
	}
	if bound := t.bound(); bound != "" {
		note("the search ended at its bound on %s: more may be found without it", bound)
	}
	for _, trial := range h.collapsed {
		note("trial %d (%s) went on many times slower with the memory full: it counts as not fitting", trial.Number, trial.Config)
	}
	notes = append(notes, h.failureNotes()...)
	if figures.Config != best {
		note("the figures are those of trial %d, with %d accumulation steps instead of %d", figures.Number, figures.Accumulation, best.Accumulation)
	}
	notes = append(notes, h.warningNotes(best)...)
	if equal := t.equals(best); equal != "" {
		note("equally fast as far as the measurements tell: %s", equal)
	}
	if t.goal.HeadroomBytes > 0 && figures.PeakBytes == 0 {
		note("the peak of the recommendation is not known, and so whether it leaves the headroom")
	}
	return append(notes, t.fuzzyNotes()...)
}

// failureNotes name trials that failed otherwise than for want of memory, and soaks that failed.
func (h *history) failureNotes() []string {
	var notes []string
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	for _, trial := range h.trials {
		if trial.Status != OK && trial.Purpose == Soak {
			note("%s was the best until its soak, trial %d, ended as %s", trial.Config, trial.Number, trial.Status)
		}
	}
	for _, status := range []Status{Diverged, Crashed, Timeout, Invalid} {
		failed := slices.DeleteFunc(slices.Clone(h.trials), func(t Trial) bool { return t.Status != status })
		if len(failed) > 0 {
			trials := "1 trial"
			if len(failed) > 1 {
				trials = fmt.Sprintf("%d trials", len(failed))
			}
			note("%s ended as %s, the first is trial %d (%s)", trials, status, failed[0].Number, failed[0].Config)
		}
	}
	return notes
}

// warningNotes are what makes the figures of the best configuration's trials doubtful, and growth wherever it was seen.
func (h *history) warningNotes(best Config) []string {
	var notes []string
	for _, trial := range h.trials {
		if trial.Config == best || trial.GrowthBytes > 0 {
			for _, warning := range trial.Warnings {
				notes = append(notes, fmt.Sprintf("trial %d (%s): %s", trial.Number, trial.Config, warning))
			}
		}
	}
	return notes
}

// equals lists the configurations of the finals that are as fast as the best one, itself first, with
// their throughputs; empty: there is no other.
func (t *Tuner) equals(best Config) string {
	h := t.digest()
	if t.goal.Objective != Throughput || h.rounds(best) == 0 {
		return ""
	}
	var others []string
	text := func(c Config) string {
		i := throughputOf(c, secondsOf(h.measured(c)))
		return fmt.Sprintf("%s (%.4g, %.4g to %.4g samples/s)", c, i.Median, i.Low, i.High)
	}
	for _, c := range t.proven() {
		if c != best && h.rounds(c) > 0 && h.equallyFast(c, best) {
			others = append(others, text(c))
		}
	}
	if len(others) == 0 {
		return ""
	}
	return strings.Join(append([]string{text(best)}, others...), ", ")
}

// fuzzyNotes names the sizes that ran once and did not fit another time.
func (t *Tuner) fuzzyNotes() []string {
	var notes []string
	for _, set := range t.space.Sets {
		for _, class := range []int{1, 2} {
			for _, s := range t.digest().fits(set, class).sizes {
				if s.ranTrial > 0 && s.failTrial > 0 {
					notes = append(notes, fmt.Sprintf("the border is not sharp: micro-batch %d of %s ran in trial %d and did not fit in trial %d",
						s.batch, set, s.ranTrial, s.failTrial))
				}
			}
		}
	}
	return notes
}
