package tuner

import (
	"math"
	"slices"
)

// nextLean asks for the leanest configuration that may be fast enough, where the
// objective is memory and it needs less than the best one known.
func (t *Tuner) nextLean() (Request, bool) {
	fastest, ok := t.fastest()
	if t.goal.Objective != Memory || !ok {
		return Request{}, false
	}
	h := t.digest()
	best, _ := t.best()
	least := h.logRate(fastest, h.speeds()) + math.Log(leanRatio)
	for _, c := range t.byPeak(t.proven()) {
		if h.peakOf(c) >= h.peakOf(best) {
			break
		}
		if log, deviation := h.speeds().predict(c); !h.timed(c) && log+deviation >= least {
			return t.look(c), true
		}
	}
	return Request{}, false
}

// nextUntimed asks for the throughput of the best configuration where no soak will
// measure it, or where another one was measured to be about as fast.
func (t *Tuner) nextUntimed() (Request, bool) {
	h := t.digest()
	best, ok := t.best()
	if !ok || h.timed(best) || t.goal.SoakSteps > 0 && !t.rivalled(best) {
		return Request{}, false
	}
	return t.look(best), true
}

// rivalled says whether a measured configuration may be as fast as the best one,
// which was not measured.
func (t *Tuner) rivalled(best Config) bool {
	h := t.digest()
	if t.goal.Objective == Batch {
		return false
	}
	least := h.logRate(best, h.speeds()) - 2*equalRatio
	for _, c := range t.proven() {
		if c != best && h.timed(c) && h.logRate(c, h.speeds()) > least {
			return true
		}
	}
	return false
}

// nextSoak asks for the soak of the best configuration.
func (t *Tuner) nextSoak() (Request, bool) {
	best, ok := t.choice()
	if t.goal.SoakSteps == 0 || !ok || t.digest().soaked(best) != nil {
		return Request{}, false
	}
	return Request{
		Config: best, Purpose: Soak, WarmupSteps: t.space.warmup(),
		Steps: t.goal.SoakSteps, Seconds: t.goal.SoakSeconds, Fresh: true,
	}, true
}

// proved says whether a configuration was soaked and ran.
func (t *Tuner) proved() bool {
	return slices.ContainsFunc(t.digest().trials, func(trial Trial) bool { return trial.Purpose == Soak && trial.Status == OK })
}

// soaked gives the last soak of a configuration that ran; nil: there is none.
func (h *history) soaked(c Config) *Trial {
	var soak *Trial
	for _, trial := range h.ran(c) {
		if trial.Purpose == Soak {
			soak = &trial
		}
	}
	return soak
}

// choice gives the configuration to soak and to recommend: the best one, or one that
// was soaked already and that the best does not beat by more than equal means.
func (t *Tuner) choice() (Config, bool) {
	best, ok := t.best()
	if !ok || t.goal.Objective != Throughput {
		return best, ok
	}
	h := t.digest()
	least := h.logRate(best, h.speeds()) - equalRatio
	for _, c := range t.proven() {
		if h.soaked(c) != nil && h.logRate(c, h.speeds()) >= least {
			return c, true
		}
	}
	return best, true
}
