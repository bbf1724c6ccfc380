package harness

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"autotune/tuner"
)

var (
	numbersIn = regexp.MustCompile(`\d+`)
	// frameOf is a line of a Python traceback (https://docs.python.org/3/library/traceback.html).
	frameOf = regexp.MustCompile(`^  File "([^"]+)", line (\d+)(?:, in (\S+))?$`)
	// packaged are places of code that is not the user's own.
	packaged = regexp.MustCompile(`[/\\](site|dist)-packages[/\\]|[/\\]lib[/\\]python3[^/\\]*[/\\]|^<`)
)

// causeOf is what failures for one reason have in common: the type, and the first line
// without its numbers, which are often of the size. Empty for a trial that did not fail,
// and for batches whose size is known to be another (Trial.Came).
func causeOf(t TrialRecord, trial tuner.Trial, reason string) string {
	switch {
	case trial.Status == tuner.OK || trial.Status == tuner.OOM || trial.Status == tuner.Diverged || trial.Status == tuner.Interrupted:
		return ""
	case trial.Came > 0:
		return ""
	case t.Failure == nil:
		return numbersIn.ReplaceAllString(reason, "#")
	}
	return numbersIn.ReplaceAllString(t.Failure.Type+": "+firstLine(t.Failure.Text), "#")
}

// told is what the user is told of a failure: its first line and the innermost line of the user's own code.
func (f *Failure) told() string {
	text := firstLine(f.Text)
	if place := usersPlace(f.Text); place != "" {
		text += "\n  at " + place
	}
	return text
}

// usersPlace is the innermost place of a traceback that is not in a package, with its code; empty: there is none.
func usersPlace(text string) string {
	lines := strings.Split(text, "\n")
	place := ""
	for i, line := range lines {
		frame := frameOf.FindStringSubmatch(line)
		if frame == nil || packaged.MatchString(frame[1]) {
			continue
		}
		place = fmt.Sprintf("%s:%s", filepath.Base(frame[1]), frame[2])
		if frame[3] != "" {
			place += ", in " + frame[3]
		}
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1], "    ") {
			place += ": " + strings.TrimSpace(lines[i+1])
		}
	}
	return place
}

// noAnswer is the error of a search whose trials failed for other reasons than memory: what
// most of them have in common, where, and how to see the rest.
func (s *session) noAnswer(err error) error {
	counts, most := map[string]int{}, 0
	for _, t := range s.judged {
		if t.Cause != "" {
			counts[t.Cause]++
			most = max(most, counts[t.Cause])
		}
	}
	for i, t := range s.judged {
		f := s.run.Trials[i].Failure
		if f == nil || counts[t.Cause] != most || t.Cause == "" {
			continue
		}
		alike := fmt.Sprintf("trial %d (%s)", t.Number, t.Config)
		if most > 1 {
			alike += fmt.Sprintf(" and %d more like it, down to micro-batch %d", most-1, s.smallestOf(t.Cause))
		}
		return exitf(ErrFailed, "%w\n%s: %s\nevery trial's whole text: autotune report %s", err, alike, f.told(), s.run.Dir)
	}
	return exitf(ErrFailed, "%w: see the trials and %s/logs", err, s.run.Dir)
}

// smallestOf is the smallest micro-batch of the trials with the cause.
func (s *session) smallestOf(cause string) int {
	smallest := 0
	for _, t := range s.judged {
		if t.Cause == cause && (smallest == 0 || t.MicroBatch < smallest) {
			smallest = t.MicroBatch
		}
	}
	return smallest
}
