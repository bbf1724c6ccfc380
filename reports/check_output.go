package reports

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"autotune/tuner"
	"autotune/tuner/stats"
)

// WriteText writes the comparison for a terminal of 80 columns: one row a
// metric and configuration, then the verdict, then what is to be known about it.
func (c Comparison) WriteText(w io.Writer) error {
	var out strings.Builder
	if len(c.Rows) > 0 {
		columns := []column{left("config"), left("metric"), right("baseline"), right("now"),
			left("change (95% interval)"), left("verdict")}
		var rows [][]string
		var knobs knobMarks
		for _, r := range c.Rows {
			knobs.add(r.Config.Knobs)
			rows = append(rows, c.textRow(r, knobs))
		}
		if err := writeTable(&out, columns, rows); err != nil {
			return err
		}
		if err := writeLines(&out, knobs.notes()); err != nil {
			return err
		}
		out.WriteString("\n")
	}
	say := func(head, text string) { out.WriteString(wrap(head, text) + "\n") }
	say("", c.verdict())
	if slices.ContainsFunc(c.Rows, func(r ComparisonRow) bool { return r.Change != stats.Interval{} }) {
		say("", "Baseline and now are medians over the repeats. The change is the median of all ratios of a repeat now to one before (Hodges-Lehmann), and so not quite the ratio of the two.")
	}
	if slices.ContainsFunc(c.Rows, func(r ComparisonRow) bool { return r.Verdict == Unclear }) {
		say("", "Unclear: noise may hide a change beyond what is allowed; bench with more repeats, or on a quieter machine.")
	}
	for _, d := range c.Differences {
		say("Compared in spite of: ", d.String())
	}
	for _, d := range c.Libraries {
		say("Compared in spite of: ", fmt.Sprintf("%s %s and %s", d.What, d.Baseline, d.Run))
	}
	for _, d := range c.Versions {
		say("Note: ", d.String())
	}
	for _, text := range c.Warnings {
		say("Warning: ", text)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (c Comparison) textRow(r ComparisonRow, knobs knobMarks) []string {
	u, name := unit{size: 1}, c.Unit
	if r.Metric == MetricMemory {
		u = unitFor(byteUnits, math.Max(r.Baseline.Median, r.Run.Median))
		name = "peak " + u.name
	}
	value := func(i stats.Interval) string {
		if i.Median == 0 {
			return "-"
		}
		return u.text(i.Median)
	}
	change := "-"
	if r.Baseline.Median > 0 && r.Run.Median > 0 {
		change = changeText(r.Change)
	}
	return []string{knobs.set(r.Config.Set()) + " " + shape(r.Config), name, value(r.Baseline), value(r.Run), change, string(r.Verdict)}
}

// changeText is a change with its interval, where there is one, such as "-4.1% (-5.0 to -3.2)".
func changeText(change stats.Interval) string {
	text := percent(change.Median, true)
	if change.Low == change.High {
		return text
	}
	return fmt.Sprintf("%s (%s to %s)", text, strings.TrimSuffix(percent(change.Low, true), "%"), strings.TrimSuffix(percent(change.High, true), "%"))
}

// verdict is the result in a sentence.
func (c Comparison) verdict() string {
	count := map[Verdict]int{}
	for _, r := range c.Rows {
		count[r.Verdict]++
	}
	limits := fmt.Sprintf("throughput %s, memory %s", allowance(c.Thresholds.Throughput), allowance(c.Thresholds.Memory))
	if c.Regressed {
		return fmt.Sprintf("Regression (allowed: %s); %d worse than that, %d failing now.",
			limits, count[Regression], count[Stopped])
	}
	return fmt.Sprintf("No regression (allowed: %s); %d better, %d worse within what is allowed, %d the same, %d unclear.",
		limits, count[Better], count[Worse], count[Same], count[Unclear])
}

// allowance is a threshold in words.
func allowance(threshold float64) string {
	if math.IsInf(threshold, 1) {
		return "not looked at"
	}
	return percent(threshold, false)
}

// comparisonJSON is the comparison's form for machines, in base units; what does
// not exist is null.
type comparisonJSON struct {
	Baseline    string       `json:"baseline"`
	Run         string       `json:"run"`
	Regressed   bool         `json:"regressed"`
	Throughput  *float64     `json:"throughput_threshold"` // null: not looked at
	Memory      *float64     `json:"memory_threshold"`     // null: not looked at
	Rows        []rowJSON    `json:"rows"`
	Differences []Difference `json:"differences"`
	Libraries   []Difference `json:"libraries"`
	Versions    []Difference `json:"versions"`
	Warnings    []string     `json:"warnings"`
}

// rowJSON is a ComparisonRow for machines.
type rowJSON struct {
	tuner.Config
	Metric         string          `json:"metric"`
	Unit           string          `json:"unit"`
	Baseline       *stats.Interval `json:"baseline"`
	Run            *stats.Interval `json:"run"`
	BaselineTrials []int           `json:"baseline_trials"`
	RunTrials      []int           `json:"run_trials"`
	Change         *stats.Interval `json:"change"` // as a fraction of the baseline
	P              *float64        `json:"p"`
	Verdict        Verdict         `json:"verdict"`
}

// JSON is the comparison indented, in base units, with a newline at its end.
func (c Comparison) JSON() ([]byte, error) {
	out := comparisonJSON{
		Baseline: c.Baseline, Run: c.Run, Regressed: c.Regressed,
		Throughput: finite(c.Thresholds.Throughput), Memory: finite(c.Thresholds.Memory),
		Rows: []rowJSON{}, Differences: append([]Difference{}, c.Differences...),
		Libraries: append([]Difference{}, c.Libraries...), Versions: append([]Difference{}, c.Versions...), Warnings: append([]string{}, c.Warnings...),
	}
	for _, r := range c.Rows {
		row := rowJSON{Config: r.Config, Metric: r.Metric, Unit: "samples/s", Verdict: r.Verdict,
			BaselineTrials: r.BaselineTrials, RunTrials: r.RunTrials}
		if r.Metric == MetricMemory {
			row.Unit = "B"
		}
		if r.Baseline.Median > 0 {
			row.Baseline = &r.Baseline
		}
		if r.Run.Median > 0 {
			row.Run = &r.Run
		}
		if row.Baseline != nil && row.Run != nil {
			row.Change, row.P = &r.Change, &r.P
		}
		out.Rows = append(out.Rows, row)
	}
	return indented(out)
}

// finite is a threshold, or nil where it is not looked at.
func finite(threshold float64) *float64 {
	if math.IsInf(threshold, 1) {
		return nil
	}
	return &threshold
}
