package harness

import (
	"context"

	"autotune/tuner"
)

// Options say which run to make.
type Options struct {
	Dir      string   // the run's folder; made where it is missing
	Plan     Plan     // what to run; Resume takes it from the journal instead
	Workload Workload // how its worker starts
	Events   Events   // who is told of the progress; nil: nobody
}

// Events is told what happens while a run goes on, from one goroutine.
type Events interface {
	// Begin is called once, before the first trial.
	Begin(Header)
	// TrialBegin is called before a trial with estimates of what is left, that trial
	// included: trials, and seconds (0: not known).
	TrialBegin(number int, request tuner.Request, trialsLeft int, secondsLeft float64)
	// TrialEnd is called when a trial is in the journal.
	TrialEnd(TrialRecord, tuner.Status)
	// Note is a sentence that the user should read.
	Note(string)
}

// Run is what a journal holds.
type Run struct {
	Dir            string
	Header         Header
	Trials         []TrialRecord
	Recommendation *Recommendation // nil: none was made
	// TornBytes is the length of a last line that was cut off in the middle; 0: the journal is whole.
	TornBytes int
}

// Judged is what each trial means, in the journal's order.
func (r *Run) Judged() []tuner.Trial {
	judged := make([]tuner.Trial, 0, len(r.Trials))
	for _, t := range r.Trials {
		trial, _ := Judge(r.Header, judged, t)
		judged = append(judged, trial)
	}
	return judged
}

// WallSeconds is the time that all trials took together, in seconds.
func (r *Run) WallSeconds() float64 {
	var sum float64
	for _, t := range r.Trials {
		sum += t.WallSeconds
	}
	return sum
}

// Tune searches: it runs the trials that the tuner asks for, proves the answer
// and returns the run with its recommendation. The run is returned beside an
// error too, as far as it came. The error has an ExitCode method: a *UsageError
// where the folder cannot be used, else an *ExitError.
//
// When ctx is cancelled the running trial is stopped and recorded as
// interrupted; the error is then ErrInterrupted and Resume goes on.
func Tune(ctx context.Context, o Options) (*Run, error) { return start(ctx, o) }

// Bench measures the plan's configurations, interleaved, each Settings.Repeat
// times in a fresh worker. A configuration that did not run is not repeated.
// The error is nil when at least one ran. It ends and resumes as Tune does.
func Bench(ctx context.Context, o Options) (*Run, error) { return start(ctx, o) }

// Resume goes on with the run in o.Dir, a tune or a bench: it cuts off a line
// that was written in part, takes the finished trials as they are, runs
// interrupted ones again, and goes on as if nothing had happened. Of o.Plan
// nothing is used. A finished run is returned as it is.
func Resume(ctx context.Context, o Options) (*Run, error) { return resume(ctx, o) }
