//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"autotune/harness"
	"autotune/tuner"
)

// lastWord is what a flood ends with.
const lastWord = "the last word of the flood"

// logBound is more than a trial's log may have, in bytes.
const logBound = 10 << 20

// outcome is what came of one run.
type outcome struct {
	kind     *kind
	seed     uint64
	hits     []tuner.Status // of the trials that the fault hit
	came     bool           // the fault came; else the run had ended before
	end      string         // of the run: a few words
	problems []string
	folder   string // kept where there are problems
	notRun   string // why it was not
}

// check holds the always-conditions against a run that has ended.
func (d *drive) check() outcome {
	d.noProcesses("after the run")
	d.fired = d.firedAt()
	for _, leak := range d.result.Leaks {
		d.wrong("leaked: %s", leak)
	}
	if d.result.PeakMemory > d.limits.memory {
		d.wrong("the tuner's process took %d bytes", d.result.PeakMemory)
	}
	o := outcome{kind: d.kind, seed: d.seed, folder: d.folder}
	d.checkPace()
	run := d.journal()
	if run != nil {
		d.checkLost(run)
		o.hits = d.checkHits(run)
		d.checkLogs()
	}
	o.end = d.checkEnd(run)
	o.came = d.came || !d.fired.IsZero() && d.kind.drive == nil || d.lasts(run)
	o.problems = d.problems
	return o
}

// lasts says whether a fault that lasts was met.
func (d *drive) lasts(run *harness.Run) bool {
	f := d.job.Fault
	return run != nil && slices.ContainsFunc(run.Trials, func(t harness.TrialRecord) bool {
		switch f.Kind {
		case kindBatchNorm:
			return t.MicroBatch == 1
		case kindIndex:
			return t.MicroBatch >= f.Size
		case kindHole:
			return t.MicroBatch == f.Size
		}
		return f.Kind == kindBusy && t.Number >= f.Trial && t.MicroBatch > f.Size && t.MicroBatch <= trueBorder
	})
}

// firedAt is when the fault came.
func (d *drive) firedAt() time.Time {
	if !d.fired.IsZero() {
		return d.fired
	}
	content, err := os.ReadFile(filepath.Join(d.folder, "state", "fired"))
	if err != nil {
		return time.Time{}
	}
	nanoseconds, _ := strconv.ParseInt(string(content), 10, 64)
	return time.Unix(0, nanoseconds)
}

// checkPace sees that the run went on soon after the fault.
func (d *drive) checkPace() {
	if d.fired.IsZero() || d.job.Resume {
		return
	}
	for _, t := range d.told {
		at := time.Unix(0, t.At)
		if (t.Begin == 0 && t.Result == nil) || at.Before(d.fired) {
			continue
		}
		if took := at.Sub(d.fired); took > d.limits.grace+time.Duration(d.deadline()*float64(time.Second)) {
			d.wrong("the run went on %v after the fault", took)
		}
		return
	}
}

// deadline is that of this run, where it has to be waited for.
func (d *drive) deadline() float64 {
	if d.kind.hangs {
		return d.job.Deadline
	}
	return 0
}

// journal reads what the run left; nil: there is none.
func (d *drive) journal() *harness.Run {
	dir := d.run()
	if d.job.Mount != "" {
		dir = d.job.Fault.State
	}
	run, err := harness.ReadRun(dir)
	if err != nil {
		if d.result.Exit != harness.ExitUsage {
			d.wrong("the journal cannot be read: %v", err)
		}
		return nil
	}
	if run.TornBytes > 0 {
		d.wrong("the journal's last %d bytes are torn", run.TornBytes)
	}
	return run
}

// checkLost sees that each trial that had ended is in the journal.
func (d *drive) checkLost(run *harness.Run) {
	wanted := d.kept
	if !d.cut {
		for _, t := range d.told {
			if t.End > 0 {
				wanted = append(wanted, t.End)
			}
		}
	}
	for _, number := range wanted {
		if !slices.ContainsFunc(run.Trials, func(t harness.TrialRecord) bool { return t.Number == number }) {
			d.wrong("trial %d had ended and is not in the journal", number)
		}
	}
}

// truth is what a trial is that no fault hits.
func (d *drive) truth(t tuner.Trial) tuner.Status {
	f := d.job.Fault
	border := trueBorder
	if f.Kind == kindBusy && t.Number >= f.Trial {
		border = f.Size
	}
	if t.MicroBatch > border {
		return tuner.OOM
	}
	return tuner.OK
}

// checkHits gives the statuses of the trials that the fault hit.
func (d *drive) checkHits(run *harness.Run) []tuner.Status {
	var hits []tuner.Status
	for _, t := range run.Judged() {
		if t.Status == d.truth(t) || t.Status == tuner.Interrupted {
			continue
		}
		hits = append(hits, t.Status)
		if !slices.Contains(d.kind.hit, t.Status) {
			d.wrong("trial %d of micro-batch %d is %s", t.Number, t.MicroBatch, t.Status)
		}
	}
	if len(hits) > 1 && len(d.kind.phases) > 0 {
		d.wrong("the fault hit %d trials: %v", len(hits), hits)
	}
	return hits
}

// checkLogs sees that logs are bounded and that the end of a flood is kept.
func (d *drive) checkLogs() {
	logs, _ := filepath.Glob(filepath.Join(d.run(), "logs", "*.log"))
	last := false
	for _, path := range logs {
		content, _ := os.ReadFile(path)
		if len(content) > logBound {
			d.wrong("%s has %d bytes", path, len(content))
		}
		last = last || bytes.Contains(content, []byte(lastWord))
	}
	if d.kind.name == kindFlood && !d.fired.IsZero() && !last {
		d.wrong("no log has the end of what was printed")
	}
}

// checkEnd sees that the answer is right, or refused with a reason.
func (d *drive) checkEnd(run *harness.Run) string {
	if d.result.Exit != 0 {
		if !slices.Contains(d.kind.exits, d.result.Exit) || d.result.Reason == "" {
			d.wrong("the run ended with exit code %d: %s", d.result.Exit, d.result.Reason)
		}
		return fmt.Sprintf("refused with a reason (exit code %d)", d.result.Exit)
	}
	if run == nil || run.Recommendation == nil {
		d.wrong("the run ended well, without an answer")
		return "no answer"
	}
	if len(d.kind.exits) > 0 && d.kind.once {
		d.wrong("the run ended well, and had to be refused")
	}
	got, want := run.Recommendation.MicroBatch, d.answer(run)
	if seen, is := run.Recommendation.Throughput.Median, throughput(got); math.Abs(seen/is-1) > 0.01 {
		d.wrong("the throughput of %d is said to be %v samples/s, and is %v", got, seen, is)
	}
	switch {
	case got == want && want == trueBorder:
		return "the same answer"
	case got == want:
		return "the largest size that the fault left"
	case d.soaked(run):
		return "a smaller size, when the largest failed its last run"
	}
	d.wrong("micro-batch %d is recommended, and %d is right; trials%s", got, want, listed(run))
	return "a wrong answer"
}

// throughput is what the last run of a micro-batch gives, in samples/s.
func throughput(size int) float64 {
	return float64(size) / stepSeconds(size, soakSeconds/harness.SoakSteps)
}

// soaked says whether the last run of the largest size failed, and the recommended one, which fits, held its own.
func (d *drive) soaked(run *harness.Run) bool {
	trials := run.Judged()
	last, r := trials[len(trials)-1], run.Recommendation
	lost := slices.ContainsFunc(trials, func(t tuner.Trial) bool {
		return t.Purpose == tuner.Soak && t.Status != tuner.OK && t.Status != tuner.Interrupted && t.MicroBatch > r.MicroBatch
	})
	return lost && r.Soaked && last.Purpose == tuner.Soak && last.Status == tuner.OK && last.MicroBatch == r.MicroBatch && r.MicroBatch <= trueBorder
}

// answer is the largest size that nothing speaks against: none that failed, or that is above one without memory.
func (d *drive) answer(run *harness.Run) int {
	ceiling, failed := trueBorder, map[int]bool{}
	for _, t := range run.Judged() {
		switch t.Status {
		case tuner.OOM:
			ceiling = min(ceiling, t.MicroBatch-1)
		case tuner.OK, tuner.Interrupted:
		default:
			failed[t.MicroBatch] = true
		}
	}
	if d.kind.name == kindIndex {
		ceiling = min(ceiling, d.job.Fault.Size-1)
	}
	for failed[ceiling] {
		ceiling--
	}
	return ceiling
}

// listed are a run's trials in short.
func listed(run *harness.Run) string {
	text := ""
	for _, t := range run.Judged() {
		text += fmt.Sprintf(" %d:%s:%s", t.MicroBatch, t.Purpose, t.Status)
	}
	return text
}
