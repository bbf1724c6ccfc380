package tuner

import (
	"math"
	"math/bits"
)

// usualTimed is the number of configurations that a search usually measures beside the borders.
const usualTimed = 3

// foreseenTrials is the number of trials that prove a border which was foreseen.
const foreseenTrials = 3

// Left estimates how many trials are left, forecasts not counted, and how many seconds they will take. The
// seconds are 0 before a trial has ended; a bound on trials or time is heeded.
func (t *Tuner) Left() (trials int, seconds float64) {
	r, more := t.Next()
	if !more {
		return 0, 0
	}
	soak := 0.0
	if t.goal.SoakSteps > 0 {
		soak = t.soakSeconds()
		trials++
	}
	if r.Purpose == Soak {
		return trials, soak
	}
	search := t.searchLeft()
	if r.Purpose == Final {
		search = t.finalsLeft()
	}
	ran, took := t.searched()
	perTrial := 0.0
	if ran > 0 {
		perTrial = took / float64(ran)
	}
	if t.goal.MaxTrials > 0 {
		search = min(search, t.goal.MaxTrials-ran)
	}
	seconds = float64(search) * perTrial
	if t.goal.MaxSeconds > 0 {
		seconds = math.Min(seconds, t.goal.MaxSeconds-took)
	}
	return trials + search, seconds + soak
}

// searched gives the number of trials before the soak, and their time in seconds.
func (t *Tuner) searched() (trials int, seconds float64) {
	for _, trial := range t.digest().trials {
		if trial.Purpose != Soak {
			trials++
			seconds += trial.WallSeconds
		}
	}
	return trials, seconds
}

// searchLeft estimates the number of trials before the soak: what a bisection of
// each bracket needs, or less where the memory model tells more, and the timing.
func (t *Tuner) searchLeft() int {
	left := 1
	class := t.borderClass()
	for _, set := range t.space.Sets {
		if !t.usable(set) {
			continue
		}
		search := t.fitSearch(set, class)
		low, high := search.bracket()
		width := high - low - 1
		if fit, _, ok := search.fit(low, high); ok && width > 0 {
			least, most := fit.border(t.goal.LimitBytes)
			width = min(width, 1+max(1, int(math.Min(most, 1e9)-math.Min(least, 1e9))))
		}
		trials := bits.Len(uint(width))
		if _, ok := search.foreseen(low, high); ok || t.expectsForecast(ledgerKey{set, class}) {
			trials = min(trials, foreseenTrials-min(foreseenTrials-1, len(search.ledger.sizes)))
		}
		left += trials
	}
	if t.goal.Objective != Batch {
		timed := 0
		for _, trial := range t.digest().trials {
			if trial.Purpose == Time {
				timed++
			}
		}
		left += max(0, usualTimed-timed)
	}
	return left
}

// soakSeconds estimates the time of the soak; 0: nothing was timed yet.
func (t *Tuner) soakSeconds() float64 {
	best, ok := t.best()
	if !ok || len(t.digest().speeds().points) == 0 {
		return 0
	}
	log, _ := t.digest().speeds().predict(best)
	step := float64(best.Samples()) / math.Exp(log)
	return math.Max(t.goal.SoakSeconds, float64(t.goal.SoakSteps)*step) + step
}
