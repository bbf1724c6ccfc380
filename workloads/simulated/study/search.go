package study

import (
	"fmt"

	"autotune/tuner"
	"autotune/workloads/simulated"
)

// maxTrials is where a search counts as one that does not end.
const maxTrials = 1000

// Outcome is what a search came to on one device.
type Outcome struct {
	// Err is the search's error where it gave no answer; Recommendation is then empty.
	Err            error
	Recommendation tuner.Recommendation
	// Trials are all trials, in their order.
	Trials []tuner.Trial
	// The simulated time of the trials by what they are for, the starts of workers
	// included: one for the first trial, one where a fresh worker is asked for, and
	// one after each trial that failed, which is the worst case: a worker that
	// survives its failure is kept.
	FitSeconds, TimeSeconds, SoakSeconds float64
}

// add takes in a trial.
func (o *Outcome) add(t tuner.Trial) {
	o.Trials = append(o.Trials, t)
	switch t.Purpose {
	case tuner.Soak:
		o.SoakSeconds += t.WallSeconds
	case tuner.Time:
		o.TimeSeconds += t.WallSeconds
	default:
		o.FitSeconds += t.WallSeconds
	}
}

// Count is the number of the trials for which the condition holds.
func (o Outcome) Count(holds func(tuner.Trial) bool) int {
	n := 0
	for _, t := range o.Trials {
		if holds(t) {
			n++
		}
	}
	return n
}

// Fits is the number of trials that asked whether a size fits: soak and timing not counted.
func (o Outcome) Fits() int {
	return o.Count(func(t tuner.Trial) bool { return t.Purpose == tuner.Fit })
}

// Failures is the number of trials that did not run to their end.
func (o Outcome) Failures() int {
	return o.Count(func(t tuner.Trial) bool { return t.Status != tuner.OK })
}

// Search lets the tuner search on the device. The tuner is told nothing but the
// space, the goal and the trials.
func Search(d *simulated.Device, space tuner.Space, goal tuner.Goal) (Outcome, error) {
	return SearchForeseen(d, space, goal, 0)
}

// SearchForeseen is Search with the device's forecasts, times the factor; 0: without.
func SearchForeseen(d *simulated.Device, space tuner.Space, goal tuner.Goal, factor float64) (Outcome, error) {
	space.Predicts = factor > 0
	t, err := tuner.New(space, goal)
	if err != nil {
		return Outcome{}, err
	}
	var o Outcome
	failed := false
	for {
		r, more := t.Next()
		if !more {
			break
		}
		if r.Purpose == tuner.Predict {
			t.Foresee(d.Forecast(r.Set(), r.Accumulation, factor))
			continue
		}
		if len(o.Trials) == maxTrials {
			return o, fmt.Errorf("device %d: the search did not end in %d trials", d.Seed(), maxTrials)
		}
		trial := d.Run(len(o.Trials)+1, r)
		if failed && !r.Fresh {
			trial.WallSeconds += d.StartSeconds()
		}
		failed = trial.Status != tuner.OK
		o.add(trial)
		t.Observe(trial)
	}
	o.Recommendation, o.Err = t.Recommend()
	return o, nil
}
