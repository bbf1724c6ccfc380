package harness

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"autotune/harness/failure"
	"autotune/harness/protocol"
	"autotune/tuner"
)

const (
	// baselineFactor and baselineGrace are how far a worker's memory between trials may stay
	// above that before its first; more than both, and the worker is replaced. A first trial
	// brings in up to 10 MiB of a Go worker's own code, which is no leak.
	baselineFactor = 1.1
	baselineGrace  = 16 << 20 // bytes
	// startAttempts is how many workers in a row may fail to start before the run ends.
	startAttempts = 2
)

// scheduler says which trials to run; a *tuner.Tuner is one.
type scheduler interface {
	// Next gives the next trial; false: there is nothing more to ask.
	Next() (tuner.Request, bool)
	// Observe takes what a trial gave.
	Observe(tuner.Trial)
	// Foresee takes the answer to a request with the purpose tuner.Predict.
	Foresee(tuner.Forecast)
	// Left estimates what is left: trials, and seconds (0: not known).
	Left() (trials int, seconds float64)
}

// session is a run while it goes on.
type session struct {
	workload Workload
	header   Header
	run      *Run
	judging  *Judging
	judged   []tuner.Trial // what run.Trials mean
	journal  *journal
	events   Events

	worker     *worker // nil: none is alive
	workers    int     // started in this run
	readied    bool    // one has said ready
	startsLost int     // workers in a row that did not
	noReset    bool    // peaks cannot be set back here: a fresh worker each trial
	fatal      error   // what ends the run after the record of the trial is written
}

// trials runs what the scheduler asks for until it has nothing more to ask.
func (s *session) trials(ctx context.Context, next scheduler) error {
	for {
		request, more := next.Next()
		if !more {
			return nil
		}
		if ctx.Err() != nil {
			return s.interrupted()
		}
		if request.Purpose == tuner.Predict {
			forecast, err := s.forecast(ctx, request.Config)
			if err != nil {
				return err
			}
			next.Foresee(forecast)
			continue
		}
		number := s.run.lastNumber() + 1
		trials, seconds := next.Left()
		s.events.TrialBegin(number, request, trials, seconds)
		record, err := s.trial(ctx, number, request)
		if err == nil {
			err = s.journal.append(record)
		}
		if err != nil {
			return err
		}
		trial, _ := s.judging.Judge(record)
		s.run.Trials, s.judged = append(s.run.Trials, record), append(s.judged, trial)
		s.events.TrialEnd(record, trial.Status)
		s.refuse(record.Failure)
		switch {
		case s.fatal != nil:
			return s.fatal
		case trial.Status == tuner.Interrupted:
			return s.interrupted()
		}
		next.Observe(trial)
	}
}

// refuse ends a run in which nothing can run as the user asked for it.
func (s *session) refuse(f *Failure) {
	ran := slices.ContainsFunc(s.judged, func(t tuner.Trial) bool { return t.Status == tuner.OK })
	if f != nil && f.Type == failure.TypeUsage && !ran {
		s.fatal = &UsageError{f.Text}
	}
}

// interrupted is the error of a run that was stopped.
func (s *session) interrupted() error {
	return exitf(ErrInterrupted, "stopped; go on by: autotune resume %s", s.run.Dir)
}

// trial runs one trial and gives its record. Its error means that the trial could not be run at all.
func (s *session) trial(ctx context.Context, number int, request tuner.Request) (TrialRecord, error) {
	begun, processor := time.Now(), processorTime()
	record := TrialRecord{
		V: JournalVersion, Record: KindTrial, Number: number, Request: request, Started: begun.UTC(),
		WarmupSeconds: []float64{}, StepSeconds: []float64{}, Losses: []*float64{}, Samples: []int{},
	}
	if request.Purpose == tuner.Bench {
		record.Repeat = s.repeats(request.Config) + 1
	}
	var err error
	record.Failure, err = s.onWorker(ctx, &record)
	record.WallSeconds = time.Since(begun).Seconds()
	record.HarnessCPUSeconds = (processorTime() - processor).Seconds()
	return record, err
}

// repeats is how often bench measured the configuration so far.
func (s *session) repeats(c tuner.Config) int {
	n := 0
	for _, t := range s.judged {
		if t.Purpose == tuner.Bench && t.Config == c && t.Status != tuner.Interrupted {
			n++
		}
	}
	return n
}

// onWorker runs the trial of the record on a worker that is fit for it.
func (s *session) onWorker(ctx context.Context, record *TrialRecord) (*Failure, error) {
	s.retire(record.Request)
	path := logPath(s.run.Dir, record.Number)
	log, err := os.Create(path)
	if err != nil {
		return nil, s.logError(err)
	}
	failed, err := s.ready(ctx, record, log)
	if failed != nil || err != nil {
		return failed, err
	}
	w := s.worker
	if !slices.Contains(w.ready.Precisions, record.Precision) {
		return &Failure{Type: FailureUnsupported, Phase: "start", Text: fmt.Sprintf("the worker runs the precisions %v, not %s", w.ready.Precisions, record.Precision)}, nil
	}
	failed = s.attempt(record).run(ctx, s.request(record))
	s.inspect(record)
	switch {
	case w.spent != "":
	case failed != nil && failed.explained().Fatal:
		w.spent = "it can compute no more"
	case failed == nil && miscount(s.header, *record) != "":
		w.spent = "what it says cannot be trusted"
	}
	return failed, nil
}

// ready sees to it that there is a worker which prints to the log from now on. Its error
// means that the program cannot be started.
func (s *session) ready(ctx context.Context, record *TrialRecord, log *os.File) (*Failure, error) {
	if s.worker == nil {
		return s.start(ctx, record, log)
	}
	s.worker.output.begin(log)
	record.Worker = s.worker.number
	return nil, nil
}

// attempt is the trial of the record on the worker that is ready.
func (s *session) attempt(record *TrialRecord) *attempt {
	a := &attempt{worker: s.worker, record: record, allowed: s.header.Settings.TrialTimeout}
	if record.Purpose == tuner.Soak {
		a.allowed += record.Seconds
	}
	if s.header.LimitBytes != nil && s.header.LimitOn == hostCounter {
		a.killAt = int64(overLimit * float64(*s.header.LimitBytes))
	}
	return a
}

// request is what the worker is asked.
func (s *session) request(r *TrialRecord) *protocol.Trial {
	t := &protocol.Trial{
		Work: workOf(s.workload, s.header.Settings, r.Config), Number: r.Number, MicroBatch: r.MicroBatch,
		WarmupSteps: r.WarmupSteps, Steps: r.Steps, Seconds: r.Seconds,
	}
	if s.header.LimitBytes != nil {
		t.LimitBytes = *s.header.LimitBytes
	}
	return t
}

// start starts a worker and waits until it is ready. Its error means that the program cannot be started.
func (s *session) start(ctx context.Context, record *TrialRecord, log *os.File) (*Failure, error) {
	s.workers++
	record.Worker = s.workers
	w, err := startWorker(s.workload, s.workers, log)
	if err != nil {
		_ = log.Close()
		return nil, exitf(ErrNoEngine, "the worker of the engine %s cannot be started: %w", s.workload.Engine, err)
	}
	s.worker = w
	if s.header.LimitBytes == nil {
		w.last()
	}
	failed := (&attempt{worker: w, record: record}).awaitReady(ctx, s.workload.startTimeout())
	switch {
	case failed == nil:
		s.readied, s.startsLost = true, 0
	case failed.Type != FailureInterrupted:
		s.lostStart(failed, log.Name())
	}
	return failed, nil
}

// lostStart counts workers that did not become ready; too many in a row end the run.
func (s *session) lostStart(failed *Failure, log string) {
	s.startsLost++
	if s.startsLost < startAttempts {
		return
	}
	kind := ErrNoEngine
	if s.readied {
		kind = ErrFailed
	}
	s.fatal = exitf(kind, "%d workers of the engine %s in a row did not become ready; the last: %s (its output is in %s)",
		s.startsLost, s.workload.Engine, firstLine(failed.Text), log)
}

// retire ends a worker that is not fit for the next trial, and says why where it is worth a word.
func (s *session) retire(next tuner.Request) {
	w := s.worker
	if w == nil {
		return
	}
	if w.spent == "" && w.hasExited() {
		w.spent = "it ended"
		s.events.Note(fmt.Sprintf("Worker %d ended between two trials; another takes its place.", w.number))
	}
	if w.spent == "" && w.spoke() {
		w.spent = "it spoke between two trials"
		s.events.Note(fmt.Sprintf("Worker %d spoke, or closed its pipe, between two trials; another takes its place.", w.number))
	}
	if w.spent != "" || next.Fresh && w.trials > 0 || s.noReset && w.trials > 0 {
		s.stopWorker()
	}
}

// inspect looks at what the trial says of its worker's memory.
func (s *session) inspect(r *TrialRecord) {
	w := s.worker
	if len(r.Memory.Peak) > 0 && !r.Memory.Reset && !s.noReset {
		s.noReset = true
		s.events.Note("This system cannot set a process's peak memory back: every trial gets a fresh worker.")
	}
	for _, counter := range []string{s.header.LimitOn, protocol.Reserved} {
		if w.spent == "" {
			s.inspectCounter(r, counter)
		}
	}
}

// inspectCounter replaces a worker whose memory did not come back to what it was before its
// first trial: after this trial, or where that was not measured, when it began.
func (s *session) inspectCounter(r *TrialRecord, counter string) {
	w := s.worker
	base, measured := r.Memory.Baseline[counter]
	first, known := w.baseline[counter]
	if !known {
		if !measured {
			return
		}
		first = base
		w.baseline[counter] = base
	}
	when, held := "after", r.Memory.After[counter]
	if _, reported := r.Memory.After[counter]; !reported {
		when, held = "before", base
	}
	if float64(held) > baselineFactor*float64(first) && held > first+baselineGrace {
		w.spent = "its memory did not come back"
		s.events.Note(fmt.Sprintf("Worker %d held %s %s trial %d and %s before its first: memory did not come back, and another takes its place.",
			w.number, FormatBytes(held), when, r.Number, FormatBytes(first)))
	}
}

// stopWorker ends the worker, if there is one.
func (s *session) stopWorker() {
	if s.worker == nil {
		return
	}
	w := s.worker
	s.worker = nil
	if err := w.close(); err != nil && s.fatal == nil {
		s.fatal = s.logError(err)
	}
}

// logError is the error for a log that cannot be written.
func (s *session) logError(err error) error {
	return exitf(ErrFailed, "a trial's log cannot be written (%w); what was measured is safe; then: autotune resume %s", err, s.run.Dir)
}

// errNoPipes is why no trial runs on some systems.
var errNoPipes = exitf(ErrNoEngine, "trials run on Linux, macOS and other Unix systems: this one gives a worker no pipes of its own; reports of existing runs work here")
