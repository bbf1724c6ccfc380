package harness

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"autotune/tuner"
)

// Tune searches: it runs the trials that the tuner asks for, proves the answer
// and returns the run with its recommendation. The run is returned beside an
// error too, as far as it came; nil where it did not begin. The error has an
// ExitCode method: a *UsageError where the folder cannot be used, else an
// *ExitError.
//
// When ctx is cancelled the running trial is stopped and recorded as
// interrupted; the error is then ErrInterrupted and Resume goes on.
func Tune(ctx context.Context, o Options) (*Run, error) { return begin(ctx, o, CommandTune) }

// Bench measures the plan's configurations, interleaved, each Settings.Repeat
// times in a fresh worker. A configuration that did not run is not repeated.
// The error is nil when at least one ran. It ends and resumes as Tune does.
func Bench(ctx context.Context, o Options) (*Run, error) { return begin(ctx, o, CommandBench) }

// begin makes a new run.
func begin(ctx context.Context, o Options, command string) (*Run, error) {
	header := o.Plan.Header
	switch {
	case !canRunTrials:
		return nil, errNoPipes
	case header.Settings.Command != command:
		return nil, usagef("this plan is one of %q, not of %s", header.Settings.Command, command)
	}
	header.Created = time.Now().UTC()
	j, err := createJournal(o.Dir, header)
	if err != nil {
		return nil, err
	}
	defer j.close()
	run := &Run{Dir: o.Dir, Header: header}
	return run, execute(ctx, o, o.Plan, run, j)
}

// Resume goes on with the run in o.Dir (a run's folder or its journal), a tune
// or a bench: it cuts off a line that was written in part, takes the finished
// trials as they are, runs interrupted ones again, and goes on as if nothing had
// happened. The plan is the journal's; o.Plan is not used. A finished run is
// returned as it is.
func Resume(ctx context.Context, o Options) (*Run, error) {
	if !canRunTrials {
		return nil, errNoPipes
	}
	run, err := ReadRun(o.Dir)
	if err != nil {
		return nil, err
	}
	if !isFolder(o.Dir) && filepath.Base(o.Dir) != JournalName {
		return nil, usagef("%s cannot be gone on with, since a run's journal is named %s: give the run's folder, or put a copy of the file under that name into a folder of its own", o.Dir, JournalName)
	}
	j, size, err := openJournal(run.Dir, "see what it holds by: autotune report "+run.Dir)
	if err != nil {
		return nil, err
	}
	defer j.close()
	if run, err = ReadRun(run.Dir); err != nil { // again, now that nobody else writes
		return nil, err
	}
	plan, err := planOf(run.Header)
	if err != nil {
		return run, usagef("%s cannot be gone on with, its settings are damaged (%v): start again in another folder", filepath.Join(run.Dir, JournalName), err)
	}
	if err := sameWorkload(run.Header, o.Workload); err != nil {
		return run, err
	}
	plan.Notes = append(plan.Notes, workloadNotes(run.Header, o.Workload)...)
	plan.Notes = append(plan.Notes, otherVersions(run.Header, o.Workload)...)
	if run.TornBytes > 0 {
		if err := j.cut(size - int64(run.TornBytes)); err != nil {
			return run, err
		}
		told(o.Events).Note(fmt.Sprintf("The journal's last line was written in part: its %d bytes were cut off.", run.TornBytes))
		run.TornBytes = 0
	}
	if run.Recommendation != nil {
		told(o.Events).Note("The run in " + run.Dir + " is finished: there is nothing to resume.")
		return run, nil
	}
	return run, execute(ctx, o, plan, run, j)
}

// sameWorkload refuses to go on with another model, engine or device than a run began with.
func sameWorkload(h Header, w Workload) error {
	if h.Model != w.Model || h.Engine != w.Engine || h.Device != w.Device {
		return usagef("the run is of %s on %s (%s), and cannot go on with %s on %s (%s)", h.Model, h.Engine, h.Device, w.Model, w.Engine, w.Device)
	}
	return nil
}

// otherVersions names the libraries that have another version than when the run began.
func otherVersions(h Header, w Workload) []string {
	var notes []string
	for _, name := range slices.Sorted(maps.Keys(h.Versions)) {
		if was, is := h.Versions[name], w.Versions[name]; was != is && is != "" {
			notes = append(notes, fmt.Sprintf("The run began with %s %s and goes on with %s: its trials are not all of one version.", name, was, is))
		}
	}
	return notes
}

// told is events, or one that tells nobody.
func told(events Events) Events {
	if events == nil {
		return nobody{}
	}
	return events
}

// execute runs what is left of a run and writes its answer. Its workers have
// ended when it returns, or panics.
func execute(ctx context.Context, o Options, plan Plan, run *Run, j *journal) error {
	workload, err := o.Workload.prepared(run.Dir)
	if err != nil {
		return err
	}
	s := &session{workload: workload, header: run.Header, run: run, judging: NewJudging(run.Header), journal: j, events: told(o.Events)}
	s.judged = s.judging.all(run.Trials)
	for _, t := range run.Trials {
		s.workers = max(s.workers, t.Worker)
	}
	defer s.stopWorker()
	s.events.Begin(run.Header)
	for _, note := range plan.Notes {
		s.events.Note(note)
	}
	if run.Header.Settings.Command == CommandBench {
		return s.bench(ctx, plan)
	}
	return s.tune(ctx, plan)
}

// resumeWith tells the scheduler what has run before, interrupted trials left out.
func (s *session) resumeWith(next scheduler) {
	for _, f := range s.run.Forecasts {
		next.Foresee(f.Forecast)
	}
	for _, t := range s.judged {
		if t.Status != tuner.Interrupted {
			next.Observe(t)
		}
	}
}
