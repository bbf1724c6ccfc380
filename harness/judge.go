package harness

import (
	"fmt"
	"strings"

	"autotune/harness/failure"
	"autotune/tuner"
)

// secondsTolerance is the part of the asked time that the timed steps may fall
// short of: a worker stops by its own clock, which sees more than the steps.
const secondsTolerance = 0.05

// Judge tells what a trial means: its status, with the reason as a clause.
// Earlier are the trials judged before it, which decide where a failure is only
// perhaps one of memory: it is taken for one where a smaller size of the same
// set ran. PeakBytes of the result is what the worker reported for the counter
// that the limit holds, 0 where it reported nothing.
//
// A peak above the limit is an oom whatever else happened. Then comes what the
// failure means (package failure), then whether the steps are those that were
// asked for, and then whether every loss is finite.
func Judge(h Header, earlier []tuner.Trial, t TrialRecord) (tuner.Trial, string) {
	j := NewJudging(h)
	for _, e := range earlier {
		j.note(e)
	}
	return j.Judge(t)
}

// Judging judges the trials of a run one after the other, in the order run.
type Judging struct {
	header Header
	least  map[tuner.Set]int // the smallest micro-batch that ran
}

// NewJudging begins before the first trial of a run with the header.
func NewJudging(h Header) *Judging { return &Judging{h, map[tuner.Set]int{}} }

// all judges the trials of a journal, in its order.
func (j *Judging) all(trials []TrialRecord) []tuner.Trial {
	judged := make([]tuner.Trial, 0, len(trials))
	for _, t := range trials {
		trial, _ := j.Judge(t)
		judged = append(judged, trial)
	}
	return judged
}

// note takes in a trial that was judged.
func (j *Judging) note(t tuner.Trial) {
	if least, ran := j.least[t.Set()]; t.Status == tuner.OK && (!ran || t.MicroBatch < least) {
		j.least[t.Set()] = t.MicroBatch
	}
}

// smallerRan says whether a smaller micro-batch of the same set ran before.
func (j *Judging) smallerRan(c tuner.Config) bool {
	least, ran := j.least[c.Set()]
	return ran && least < c.MicroBatch
}

// Judge tells what the next trial means, as the function Judge does.
func (j *Judging) Judge(t TrialRecord) (tuner.Trial, string) {
	h := j.header
	trial := tuner.Trial{
		Number: t.Number, Config: t.Config, Purpose: t.Purpose,
		PeakBytes: t.Memory.Peak[h.LimitOn], StepSeconds: steadySteps(t), WallSeconds: t.WallSeconds,
	}
	if t.Failure != nil {
		trial.Came = t.Failure.Samples
	}
	status, reason := j.judge(t)
	trial.Status = status
	trial.Cause = causeOf(t, trial, reason)
	observe(&trial, t)
	j.note(trial)
	return trial, reason
}

func (j *Judging) judge(t TrialRecord) (tuner.Status, string) {
	h := j.header
	if t.Failure != nil && t.Failure.Type == FailureInterrupted {
		return tuner.Interrupted, "stopped by the user"
	}
	if peak := peakOf(h, t); h.LimitBytes != nil && peak > *h.LimitBytes {
		return tuner.OOM, fmt.Sprintf("the peak of %s is %s above the limit of %s", FormatBytes(peak), FormatBytes(peak-*h.LimitBytes), FormatBytes(*h.LimitBytes))
	}
	if t.Failure != nil {
		return j.judgeFailure(t)
	}
	if wrong := miscount(h, t); wrong != "" {
		return tuner.Invalid, wrong
	}
	for i, loss := range t.Losses {
		if loss == nil {
			return tuner.Diverged, fmt.Sprintf("the loss of step %d is not finite", i+1)
		}
	}
	return tuner.OK, "ran within the limit"
}

// peakOf is the peak of the counter that the limit holds: as the worker
// reported it or, where it failed before it could, as it was seen from outside.
func peakOf(h Header, t TrialRecord) int64 {
	if peak, reported := t.Memory.Peak[h.LimitOn]; reported || t.Failure == nil || h.LimitOn != hostCounter {
		return peak
	}
	return t.SeenPeakBytes
}

// explained is the row of the failure table that matches.
func (f *Failure) explained() failure.Row {
	return failure.Explain(failure.Seen{Type: f.Type, Phase: f.Phase, Text: f.Text, Signal: f.Signal, KernelKills: f.KernelKills})
}

// firstLine is the beginning of a text, up to its first newline.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// judgeFailure is the status of a failed trial.
func (j *Judging) judgeFailure(t TrialRecord) (tuner.Status, string) {
	f := t.Failure
	row := f.explained()
	switch row.Means {
	case failure.Memory:
		return tuner.OOM, row.Says
	case failure.MaybeMemory:
		if j.smallerRan(t.Config) {
			return tuner.OOM, row.Says + "; a smaller size ran"
		}
		return tuner.Crashed, row.Says + "; no smaller size ran"
	case failure.Deadline:
		return tuner.Timeout, row.Says
	case failure.Unsupported:
		return tuner.Unsupported, row.Says
	case failure.Protocol:
		return tuner.Invalid, row.Says
	case failure.Invalid:
		return tuner.Invalid, row.Says + ": " + firstLine(f.Text)
	}
	return tuner.Crashed, row.Says
}

// miscount says in a clause how the trial differs from what was asked; empty: it does not.
func miscount(h Header, t TrialRecord) string {
	var timed, warmup float64
	for _, s := range t.StepSeconds {
		timed += s
	}
	for _, s := range t.WarmupSeconds {
		warmup += s
	}
	reported := len(t.WarmupSeconds) + len(t.StepSeconds)
	switch {
	case t.StepsRun != reported:
		return fmt.Sprintf("the worker says that %d steps ran, and reported %d", t.StepsRun, reported)
	case len(t.WarmupSeconds) < t.WarmupSteps:
		return fmt.Sprintf("%d warm-up steps ran of %d", len(t.WarmupSeconds), t.WarmupSteps)
	case len(t.StepSeconds) < t.Steps:
		return fmt.Sprintf("%d timed steps ran of %d", len(t.StepSeconds), t.Steps)
	case timed < t.Seconds*(1-secondsTolerance):
		return fmt.Sprintf("the timed steps took %.3g s of the %.3g s asked for", timed, t.Seconds)
	case !h.virtualClock() && t.WallSeconds > 0 && warmup+timed > t.WallSeconds*(1+secondsTolerance):
		return fmt.Sprintf("steps of %.3g s were reported in a trial of %.3g s: the worker's clock jumped, or it is wrong", warmup+timed, t.WallSeconds)
	}
	for i, samples := range t.Samples {
		if samples != t.Config.Samples() {
			return fmt.Sprintf("step %d saw %d samples, not %d", i+1, samples, t.Config.Samples())
		}
	}
	if _, reported := t.Memory.Peak[h.LimitOn]; !reported && h.LimitBytes != nil {
		return fmt.Sprintf("the worker reported no %q memory, which the limit holds", h.LimitOn)
	}
	return ""
}
