package study

import (
	"fmt"
	"slices"

	"autotune/tuner"
	"autotune/workloads/simulated/recorded"
)

// Replay is what the search came to on a recorded surface. The shares are parts of
// the best recorded score of a configuration that fits.
type Replay struct {
	Surface recorded.Surface
	Chosen  tuner.Config // the empty configuration: none
	Share   float64      // of the choice; 0 where it does not fit
	Tried   int          // configurations tried, failed ones too
	Budget  int          // that could be tried
	Largest float64      // share of the largest size that fits
	Random  float64      // share of a random half, mean of RandomDraws
}

// RandomDraws is the number of random halves that Replay.Random is the mean of.
const RandomDraws = 200

// Order is the order in which the sets of a surface are given to the tuner.
type Order func(sets []tuner.Set)

// Recorded is the order of the source, Reversed its reverse: a search that is good
// by luck in the one is not in the other.
var (
	Recorded Order = func([]tuner.Set) {}
	Reversed Order = slices.Reverse[[]tuner.Set]
)

// ReplayAll lets the tuner look for the most throughput on every recorded surface,
// with half of its configurations, or six, as the most trials.
func ReplayAll(order Order) ([]Replay, error) {
	surfaces, err := recorded.Load()
	if err != nil {
		return nil, err
	}
	var replays []Replay
	for _, s := range surfaces {
		r, err := replay(s, order)
		if err != nil {
			return nil, fmt.Errorf("surface %s: %w", s.Name, err)
		}
		replays = append(replays, r)
	}
	return replays, nil
}

func replay(s recorded.Surface, order Order) (Replay, error) {
	best := s.Best()
	r := Replay{
		Surface: s, Budget: s.Budget(),
		Largest: s.LargestThatFits() / best,
		Random:  s.RandomHalf(RandomDraws, 1) / best,
	}
	trials, recommendation, err := searchSurface(s, order)
	if err != nil {
		return Replay{}, err
	}
	tried := map[tuner.Config]bool{}
	for _, t := range trials {
		if t.Status != tuner.Invalid {
			tried[t.Config] = true
		}
	}
	r.Tried, r.Chosen = len(tried), recommendation.Config
	r.Share = s.Score(r.Chosen) / best
	return r, nil
}

// searchSurface gives the trials of a search, and its recommendation, empty where
// it has none. A configuration that was never recorded is answered with the status
// Invalid, as one that this device happens not to run, and does not count as a
// trial: the bound grows by one.
func searchSurface(s recorded.Surface, order Order) ([]tuner.Trial, tuner.Recommendation, error) {
	var trials []tuner.Trial
	space := s.Space()
	order(space.Sets)
	goal := tuner.Goal{Objective: "throughput", LimitBytes: s.MemoryBytes, MaxTrials: s.Budget(), TargetError: targetError}
	for len(trials) < maxTrials {
		t, err := tuner.New(space, goal)
		if err != nil {
			return nil, tuner.Recommendation{}, err
		}
		for _, trial := range trials {
			t.Observe(trial)
		}
		r, more := t.Next()
		if !more {
			recommendation, _ := t.Recommend()
			return trials, recommendation, nil
		}
		trial, known := s.Run(len(trials)+1, r)
		if !known {
			trial = tuner.Trial{Number: len(trials) + 1, Config: r.Config, Purpose: r.Purpose, Status: tuner.Invalid}
			goal.MaxTrials++
		}
		trials = append(trials, trial)
	}
	return nil, tuner.Recommendation{}, fmt.Errorf("the search did not end in %d trials", maxTrials)
}
