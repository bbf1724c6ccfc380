package reports

import (
	"fmt"
	"slices"

	"autotune/tuner"
)

// knobMarks are sets of knobs by short marks, [a], [b] and so on, where their names would
// make a table or a figure too wide: the order in which they were first seen.
type knobMarks []string

// knobMarks marks the knobs of a run's trials.
func (d *digest) knobMarks() knobMarks {
	var m knobMarks
	for _, r := range d.results {
		m.add(r.Knobs)
	}
	return m
}

// add gives knobs a mark, unless they are none or have one.
func (m *knobMarks) add(knobs string) {
	if knobs != "" && !slices.Contains(*m, knobs) {
		*m = append(*m, knobs)
	}
}

// mark is the short mark of knobs, "" of none.
func (m knobMarks) mark(knobs string) string {
	at := slices.Index(m, knobs)
	switch {
	case knobs == "" || at < 0:
		return ""
	case at < 26:
		return fmt.Sprintf("[%c]", 'a'+at)
	}
	return fmt.Sprintf("[%d]", at+1)
}

// set is a precision with its knobs' mark, such as "fp32 [a]".
func (m knobMarks) set(s tuner.Set) string {
	if s.Knobs == "" {
		return s.Precision
	}
	return s.Precision + " " + m.mark(s.Knobs)
}

// notes say what each mark stands for, such as "[a] checkpointing=on".
func (m knobMarks) notes() []string {
	var notes []string
	for _, knobs := range m {
		notes = append(notes, m.mark(knobs)+" "+knobs)
	}
	return notes
}
