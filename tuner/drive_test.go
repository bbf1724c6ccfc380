package tuner_test

import "autotune/tuner"

// fataler is a test, of package testing or of rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// search is a search on something that runs trials.
type search struct {
	space tuner.Space
	goal  tuner.Goal
	run   func(number int, r tuner.Request) tuner.Trial
	// foresee answers requests for forecasts; nil: the space must not predict.
	foresee func(r tuner.Request) tuner.Forecast
}

// finished is a search that has ended.
type finished struct {
	tuner     *tuner.Tuner
	requests  []tuner.Request // of trials
	trials    []tuner.Trial
	forecasts []tuner.Forecast
	after     []int // trials that had run before each of the forecasts
}

// mostTrials is where a search counts as one that does not end.
const mostTrials = 500

// finish runs the search to its end.
func (s search) finish(tb fataler) finished { return s.resume(tb, nil) }

// resume goes on after the trials and then the forecasts given and runs the search to its end.
func (s search) resume(tb fataler, trials []tuner.Trial, forecasts ...tuner.Forecast) finished {
	tb.Helper()
	t, err := tuner.New(s.space, s.goal)
	if err != nil {
		tb.Fatal(err)
	}
	f := finished{tuner: t, forecasts: forecasts}
	for _, trial := range trials {
		t.Observe(trial)
		f.trials = append(f.trials, trial)
	}
	for _, forecast := range forecasts {
		t.Foresee(forecast)
	}
	for {
		r, more := t.Next()
		if !more {
			return f
		}
		if r.Purpose == tuner.Predict {
			f.forecasts, f.after = append(f.forecasts, s.foresee(r)), append(f.after, len(f.trials))
			t.Foresee(f.forecasts[len(f.forecasts)-1])
			continue
		}
		if len(f.trials) == mostTrials {
			tb.Fatalf("the search did not end in %d trials, the last %v", mostTrials, f.requests[len(f.requests)-5:])
		}
		trial := s.run(len(f.trials)+1, r)
		f.requests = append(f.requests, r)
		f.trials = append(f.trials, trial)
		t.Observe(trial)
	}
}

// recommend gives the recommendation of a search that must have one.
func (f finished) recommend(tb fataler) tuner.Recommendation {
	tb.Helper()
	r, err := f.tuner.Recommend()
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// count is the number of the trials of a purpose.
func (f finished) count(p tuner.Purpose) int {
	n := 0
	for _, t := range f.trials {
		if t.Purpose == p {
			n++
		}
	}
	return n
}

// oneSet is the space of fp32 with the sizes from 1 to largest, without accumulation.
func oneSet(largest int) tuner.Space {
	return tuner.Space{Sets: []tuner.Set{{Precision: "fp32"}}, Sizes: upTo(largest), Accumulations: []int{1}}
}

func upTo(largest int) []int {
	sizes := make([]int, largest)
	for i := range sizes {
		sizes[i] = i + 1
	}
	return sizes
}
