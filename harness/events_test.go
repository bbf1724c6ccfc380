package harness_test

import (
	"strings"

	"autotune/harness"
	"autotune/tuner"
)

// events remembers what it is told.
type events struct {
	begun    int
	numbers  []int
	workers  []int
	left     []int
	statuses []tuner.Status
	notes    []string
	trialEnd func(harness.TrialRecord, tuner.Status) // called as well; nil: nothing
	onBegin  func(number int)                        // called when a trial begins; nil: nothing
}

func (e *events) Begin(harness.Header) { e.begun++ }

func (e *events) TrialBegin(number int, _ tuner.Request, left int, _ float64) {
	e.numbers, e.left = append(e.numbers, number), append(e.left, left)
	if e.onBegin != nil {
		e.onBegin(number)
	}
}

func (e *events) TrialEnd(r harness.TrialRecord, s tuner.Status) {
	e.workers, e.statuses = append(e.workers, r.Worker), append(e.statuses, s)
	if e.trialEnd != nil {
		e.trialEnd(r, s)
	}
}

func (e *events) Note(text string) { e.notes = append(e.notes, text) }

// noted says whether a note holds the text.
func (e *events) noted(text string) bool {
	return strings.Contains(strings.Join(e.notes, "\n"), text)
}
