package harness

import (
	"context"
	"fmt"
	"slices"

	"autotune/tuner"
)

// The steps of one repeat of bench. Two warm-up steps: the first allocates, the second is the first like the others.
const (
	benchWarmup  = 2
	benchSteps   = 5
	benchSeconds = 1.0
)

// bench measures the plan's configurations.
func (s *session) bench(ctx context.Context, plan Plan) error {
	settings := s.header.Settings
	next := &rounds{configs: plan.Configs, warmup: max(benchWarmup, s.header.WarmupSteps), repeat: settings.Repeat, maxTrials: settings.MaxTrials, maxSeconds: settings.MaxTime}
	s.resumeWith(next)
	if err := s.trials(ctx, next); err != nil {
		return err
	}
	if missing := next.missing(); missing > 0 {
		s.events.Note(fmt.Sprintf("Stopped by --max-trials or --max-time with %d of %d repeats not run.", missing, len(plan.Configs)*settings.Repeat))
	}
	if next.ran {
		return nil
	}
	if !slices.ContainsFunc(s.judged, func(t tuner.Trial) bool { return t.Status != tuner.OOM }) && len(s.judged) > 0 {
		return s.nothingFits()
	}
	return exitf(ErrFailed, "no configuration ran: see the trials and %s/logs", s.run.Dir)
}

// rounds is the scheduler of bench: each configuration once, then each again,
// so that a machine that becomes slower is slower for all of them. One that did
// not run is left out of the rounds that follow.
type rounds struct {
	configs    []tuner.Config
	warmup     int // steps of a repeat
	repeat     int
	maxTrials  int     // 0: no bound
	maxSeconds float64 // 0: no bound

	trials  int
	seconds float64
	ran     bool                 // one configuration ran
	done    map[tuner.Config]int // repeats, failed ones too
	failed  map[tuner.Config]bool
}

// Next is the first configuration with the fewest repeats.
func (r *rounds) Next() (tuner.Request, bool) {
	if r.maxTrials > 0 && r.trials >= r.maxTrials || r.maxSeconds > 0 && r.seconds >= r.maxSeconds {
		return tuner.Request{}, false
	}
	best, fewest := tuner.Config{}, r.repeat
	for _, c := range r.configs {
		if n := r.done[c]; n < fewest && !r.failed[c] {
			best, fewest = c, n
		}
	}
	return tuner.Request{
		Config: best, Purpose: tuner.Bench, Fresh: true,
		WarmupSteps: r.warmup, Steps: benchSteps, Seconds: benchSeconds,
	}, fewest < r.repeat
}

// Observe takes what a repeat gave.
func (r *rounds) Observe(t tuner.Trial) {
	if r.done == nil {
		r.done, r.failed = map[tuner.Config]int{}, map[tuner.Config]bool{}
	}
	r.trials++
	r.seconds += t.WallSeconds
	r.done[t.Config]++
	if t.Status == tuner.OK {
		r.ran = true
	} else {
		r.failed[t.Config] = true
	}
}

// Foresee takes a forecast, of which bench has no use: it asks for none.
func (r *rounds) Foresee(tuner.Forecast) {}

// Left counts the repeats that are left, at the mean time of those that ran.
func (r *rounds) Left() (trials int, seconds float64) {
	trials = r.missing()
	if r.maxTrials > 0 {
		trials = min(trials, r.maxTrials-r.trials)
	}
	if r.trials > 0 {
		seconds = float64(trials) * r.seconds / float64(r.trials)
	}
	if r.maxSeconds > 0 {
		seconds = min(seconds, max(0, r.maxSeconds-r.seconds))
	}
	return trials, seconds
}

// missing is the number of repeats that were asked for and neither ran nor were given up.
func (r *rounds) missing() int {
	n := 0
	for _, c := range r.configs {
		if !r.failed[c] {
			n += r.repeat - r.done[c]
		}
	}
	return n
}
