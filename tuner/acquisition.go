package tuner

import "math"

// A configuration is measured where the expected improvement, as a part of the
// throughput, is above worthwhile and worthSecond for each second that the trial is
// thought to take, together no more than worthMost.
const (
	worthwhile  = 0.003
	worthSecond = 0.0003
	worthMost   = 0.01
)

// From these on a configuration that accumulates is first looked at with two
// accumulation steps: predicted seconds of its step, and standard deviation of the
// prediction.
const (
	slowStep     = 1.0
	unsureSpread = 0.05
)

// nextPromising asks for the configuration that promises the most improvement
// over the best one known. Once a configuration was soaked, only what promises
// more than equal means is worth another round.
func (t *Tuner) nextPromising() (Request, bool) {
	h := t.digest()
	model := h.speeds()
	best, ok := t.fastest()
	if !ok {
		return t.firstLook()
	}
	bestLog := h.logRate(best, model)
	least := 0.0
	if t.proved() {
		least = equalRatio
	}
	var promising Config
	most := 0.0
	for _, c := range t.candidates() {
		if c == best || h.timed(c) {
			continue
		}
		log, deviation := model.predict(c)
		gain := improvement(log, deviation, bestLog) - max(worth(t.look(c), log), least)
		if gain > most {
			promising, most = c, gain
		}
	}
	if most == 0 {
		return Request{}, false
	}
	return t.look(promising), true
}

// worth is the least improvement that a trial must promise; log is the logarithm of
// the samples/s that it is thought to have.
func worth(r Request, log float64) float64 {
	step := float64(r.Samples()) / math.Exp(log)
	seconds := math.Max(r.Seconds, step*float64(r.WarmupSteps+r.Steps))
	return math.Min(worthwhile+worthSecond*seconds, worthMost)
}

// firstLook asks for a trial while nothing ran yet: a size in the middle of the
// set that was tried least, of those foreseen to fit, and after each failure one of half the rank.
func (t *Tuner) firstLook() (Request, bool) {
	h := t.digest()
	tried := map[Set]int{}
	failures := 0
	for _, trial := range h.trials {
		tried[trial.Set()]++
		if trial.Status == OOM {
			failures++
		}
	}
	var choice []Config // of the set that was tried least
	for _, c := range t.candidates() {
		switch {
		case len(choice) == 0 || tried[c.Set()] < tried[choice[0].Set()]:
			choice = []Config{c}
		case c.Set() == choice[0].Set():
			choice = append(choice, c)
		}
	}
	if len(choice) == 0 {
		return Request{}, false
	}
	choice = t.foreseenToFit(choice)
	return t.fitRequest(t.shortOf(choice[len(choice)/2>>failures])), true
}

// shortOf gives the configuration with the least accumulation steps of its class,
// or the configuration itself where that one failed.
func (t *Tuner) shortOf(c Config) Config {
	short := c
	short.Accumulation = t.space.shortest(class(c.Accumulation))
	if t.digest().failed(short) {
		return c
	}
	return short
}

// look asks for a trial of a configuration: a short one where it is not known to
// fit, or where a long one would be dear and may not be needed.
func (t *Tuner) look(c Config) Request {
	h := t.digest()
	log, deviation := h.speeds().predict(c)
	seconds := float64(c.Samples()) / math.Exp(log)
	short := t.shortOf(c)
	dear := c.Accumulation > short.Accumulation && seconds > slowStep && deviation > unsureSpread
	if !h.knownToFit(c) || dear && len(h.ran(short)) == 0 {
		return t.fitRequest(short)
	}
	return t.timeRequest(c, seconds)
}

// knownToFit says whether the size, or a larger one, left the headroom with as many steps.
func (h *history) knownToFit(c Config) bool {
	s, ok := h.leaves(c.Set(), class(c.Accumulation)).largest()
	return ok && c.MicroBatch <= s.batch
}

// speeds fits the speed model to what ran.
func (h *history) speeds() *speedModel {
	if h.speed == nil {
		h.speed = fitSpeed(h.trials)
	}
	return h.speed
}

// logRate is the logarithm of a configuration's samples/s: measured where it was
// timed, else predicted.
func (h *history) logRate(c Config, model *speedModel) float64 {
	if h.timed(c) {
		return math.Log(throughputOf(c, secondsOf(h.measured(c))).Median)
	}
	log, _ := model.predict(c)
	return log
}
