package tuner

import (
	"cmp"
	"math"
	"slices"

	"autotune/tuner/stats"
)

// Two configurations are equally fast where the interval of the ratio of their
// throughputs contains 1 and the ratio itself is within equalRatio of 1.
const equalRatio = 0.02

// leanRatio is the part of the best throughput that the objective memory asks for.
const leanRatio = 0.9

// best gives the configuration to recommend as far as is known; false: none is proven.
func (t *Tuner) best() (Config, bool) {
	switch t.goal.Objective {
	case Batch:
		return t.largest()
	case Memory:
		return t.leanest()
	}
	fastest, ok := t.fastest()
	if !ok {
		return Config{}, false
	}
	return t.leanestEqual(fastest), true
}

// proven gives the candidates that are known to fit and to leave the headroom, and
// that ran, or that the search or the soak can still run.
func (t *Tuner) proven() []Config {
	h := t.digest()
	willRun := t.goal.SoakSteps > 0 || !t.spent()
	known := slices.DeleteFunc(t.candidates(), func(c Config) bool { return !h.knownToFit(c) })
	exact := slices.DeleteFunc(slices.Clone(known), func(c Config) bool { return len(h.ran(c)) == 0 })
	switch {
	case willRun:
		return known
	case len(exact) > 0:
		return exact
	}
	return slices.DeleteFunc(known, func(c Config) bool { return len(h.ran(t.shortOf(c))) == 0 })
}

// fastest gives the proven configuration with the highest throughput, measured or predicted.
func (t *Tuner) fastest() (Config, bool) {
	model := t.digest().speeds()
	var best Config
	most := math.Inf(-1)
	for _, c := range t.proven() {
		if log := t.digest().logRate(c, model); log > most {
			best, most = c, log
		}
	}
	return best, !math.IsInf(most, -1)
}

// leanestEqual gives the one of the least peak among the measured configurations
// that are as fast as the given one, itself among them.
func (t *Tuner) leanestEqual(fastest Config) Config {
	h := t.digest()
	best := fastest
	if !h.timed(fastest) {
		return best
	}
	for _, c := range t.proven() {
		if h.timed(c) && h.equallyFast(c, fastest) && h.peakOf(c) < h.peakOf(best) {
			best = c
		}
	}
	return best
}

// equallyFast says whether the step times of two configurations do not tell them
// apart. The model, which sees the other sizes too, must agree: of many
// configurations some look faster than they are.
func (h *history) equallyFast(a, b Config) bool {
	ratio, err := stats.CompareRatio(ratesOf(b, h.measured(b)), ratesOf(a, h.measured(a)))
	if err != nil { // one has no step times
		return false
	}
	logA, _ := h.speeds().predict(a)
	logB, _ := h.speeds().predict(b)
	return ratio.Contains(1) && math.Abs(ratio.Ratio-1) <= equalRatio && math.Abs(logA-logB) <= equalRatio
}

// ratesOf gives the samples per second of each timed step.
func ratesOf(c Config, trials []Trial) []float64 {
	rates := secondsOf(trials)
	for i, s := range rates {
		rates[i] = float64(c.Samples()) / s
	}
	return rates
}

// leanest gives the configuration of the least peak among those measured with
// leanRatio of the best throughput or more; of equal peaks the fastest.
func (t *Tuner) leanest() (Config, bool) {
	fastest, ok := t.fastest()
	if !ok {
		return Config{}, false
	}
	h := t.digest()
	least := h.logRate(fastest, h.speeds()) + math.Log(leanRatio)
	for _, c := range t.byPeak(t.proven()) {
		if c == fastest || h.timed(c) && h.logRate(c, h.speeds()) >= least {
			return c, true
		}
	}
	return fastest, true
}

// byPeak sorts configurations by their peak, the least first, and equal ones by throughput, the fastest first.
func (t *Tuner) byPeak(configs []Config) []Config {
	h := t.digest()
	slices.SortStableFunc(configs, func(a, b Config) int {
		if p, q := h.peakOf(a), h.peakOf(b); p != q {
			return cmp.Compare(p, q)
		}
		return cmp.Compare(h.logRate(b, h.speeds()), h.logRate(a, h.speeds()))
	})
	return configs
}

// largest gives the proven configuration of the largest micro-batch; of equal ones
// that with the fewest accumulation steps, and then the fastest.
func (t *Tuner) largest() (Config, bool) {
	proven := t.proven()
	if len(proven) == 0 {
		return Config{}, false
	}
	h := t.digest()
	model := h.speeds()
	return slices.MinFunc(proven, func(a, b Config) int {
		switch {
		case a.MicroBatch != b.MicroBatch:
			return b.MicroBatch - a.MicroBatch
		case a.Accumulation != b.Accumulation:
			return a.Accumulation - b.Accumulation
		}
		return cmp.Compare(h.logRate(b, model), h.logRate(a, model))
	}), true
}

// peakOf is the peak of a configuration in bytes: measured where its size ran, else
// by the memory model. 0: nothing is known.
func (h *history) peakOf(c Config) float64 {
	l := h.leaves(c.Set(), class(c.Accumulation))
	if s, ok := l.lookup(c.MicroBatch); ok && s.peak > 0 {
		return float64(s.peak)
	}
	fit, ok := h.memory(l)
	if !ok {
		return 0
	}
	_, most := fit.peak(c.MicroBatch)
	return most
}
