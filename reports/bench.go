package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"autotune/tuner"
	"autotune/tuner/stats"
)

// BenchResult is what bench measured of one configuration, in base units.
type BenchResult struct {
	Model        string `json:"model"`
	Engine       string `json:"engine"`
	Device       string `json:"device"`
	Precision    string `json:"precision"`
	MicroBatch   int    `json:"micro_batch"`
	Accumulation int    `json:"accumulation_steps"`
	Knobs        string `json:"knobs,omitempty"`
	// Status is the repeats' common status, or how many ended otherwise, such as "ok, 1 of 6 crashed".
	Status string `json:"status"`
	Trials []int  `json:"trials"` // every repeat, in the order run
	// Throughput is the median over the repeats that ran, with its interval, in samples/s; null where none did.
	Throughput *stats.Interval `json:"throughput_samples_per_second"`
	// Repeats are the throughputs of the repeats that ran, in samples/s, in the order run: the median over a repeat's steps.
	Repeats []float64 `json:"repeat_throughputs"`
	// Peak is the median of Peaks, in bytes; null where no repeat ran with a peak, as for a size that does not fit.
	Peak *int64 `json:"peak_memory_bytes"`
	// Peaks are the raw peaks of the repeats that ran, in bytes, in the order run.
	Peaks []int64 `json:"repeat_peaks_bytes"`
	// Seen is the highest use known of any repeat, those that did not fit included, in bytes; null where nothing was seen.
	Seen    *int64 `json:"highest_seen_bytes"`
	LimitOn string `json:"limit_on"`
	// Warnings are sentences on what makes figures of repeats doubtful; absent: nothing does.
	Warnings []string `json:"warnings,omitempty"`
}

// benchResults are a run's configurations in the form that bench prints.
func benchResults(d *digest) []BenchResult {
	list := []BenchResult{}
	for _, c := range d.configs {
		r := BenchResult{
			Model: d.Header.Model, Engine: d.Header.Engine, Device: d.Header.Device,
			Precision: c.Precision, MicroBatch: c.MicroBatch, Accumulation: c.Accumulation, Knobs: c.Knobs,
			Status: c.status(), Trials: []int{}, Repeats: []float64{}, Peaks: append([]int64{}, c.Peaks...),
			LimitOn: d.Header.LimitOn, Warnings: c.warnings(),
		}
		for _, trial := range c.Results {
			r.Trials = append(r.Trials, trial.Number)
			if trial.Seen > 0 && (r.Seen == nil || trial.Seen > *r.Seen) {
				r.Seen = &trial.Seen
			}
			if trial.ran() {
				r.Repeats = append(r.Repeats, trial.Throughput.Median)
			}
		}
		if c.ran() {
			r.Throughput = &c.Throughput
		}
		if len(c.Peaks) > 0 {
			median := medianBytes(c.Peaks)
			r.Peak = &median
		}
		list = append(list, r)
	}
	return list
}

// benchAnswer is the outcome of a bench in a line.
func (d *digest) benchAnswer() string {
	ran := 0
	for _, c := range d.configs {
		if c.ran() {
			ran++
		}
	}
	return fmt.Sprintf("%d of %d %s ran; they were given, not searched for", ran, len(d.configs), plural(len(d.configs), "configuration"))
}

// benchTable writes one row for each configuration, for a terminal of 80 columns, and
// why trials failed. Of more than 40 configurations those that ran come first, and the rest is counted.
func benchTable(w io.Writer, d *digest) error {
	if len(d.configs) == 0 {
		_, err := fmt.Fprintln(w, "No configuration was measured.")
		return err
	}
	largest := int64(0)
	for _, c := range d.configs {
		largest = max(largest, medianBytes(c.Peaks))
	}
	unit := unitFor(byteUnits, float64(largest))
	columns := []column{left("prec."), right("batch"), right("runs"), left(rateUnit(d.Header.Facts)),
		right(peakHeading(unit, largest)), right("spread"), left("status")}
	shown := d.configsOfInterest(maxRows)
	knobs := d.knobMarks()
	var rows [][]string
	for _, c := range shown {
		rows = append(rows, []string{knobs.set(c.Set()), shape(c.Config), fmt.Sprint(len(c.From)), rateOrDash(c.Throughput),
			peakText(unit, medianBytes(c.Peaks)), spreadOrDash(c.Peaks), strings.TrimPrefix(c.status(), "ok, ")})
	}
	if err := writeTable(w, columns, rows); err != nil {
		return err
	}
	if more := len(d.configs) - len(shown); more > 0 {
		if _, err := fmt.Fprintf(w, "%d more in report.html\n", more); err != nil {
			return err
		}
	}
	if err := writeLines(w, knobs.notes()); err != nil {
		return err
	}
	if err := d.benchFailures(w); err != nil {
		return err
	}
	for _, f := range d.observations() {
		if _, err := fmt.Fprintln(w, wrap(f.Name+": ", f.Text)); err != nil {
			return err
		}
	}
	return nil
}

// maxFailures is the most failures of a bench that are told one by one.
const maxFailures = 10

// benchFailures says why trials failed, a line each, those that are not for want of memory
// first; of these a reason that several have is told once.
func (d *digest) benchFailures(w io.Writer) error {
	failed := slices.DeleteFunc(slices.Clone(d.results), func(r result) bool { return r.ran() || r.Status == tuner.Interrupted })
	slices.SortStableFunc(failed, func(a, b result) int { return last(a.Status == tuner.OOM) - last(b.Status == tuner.OOM) })
	var told []result
	alike := map[string]int{}
	for _, r := range failed {
		if alike[r.benchReason()]++; alike[r.benchReason()] == 1 {
			told = append(told, r)
		}
	}
	for _, r := range told[:min(maxFailures, len(told))] {
		line := fmt.Sprintf("%s, trial %d%s: %s", r.Config, r.Number, others(alike[r.benchReason()]), r.shortReason())
		if _, err := fmt.Fprintln(w, wrap("", line)); err != nil {
			return err
		}
	}
	if more := len(told) - maxFailures; more > 0 {
		_, err := fmt.Fprintf(w, "%d more failed: see trials.csv\n", more)
		return err
	}
	return nil
}

// benchReason is what the failures of a bench are told apart by: one for want of memory is that of its size.
func (r result) benchReason() string {
	if r.Status == tuner.OOM {
		return fmt.Sprint(r.Number)
	}
	return r.shortReason()
}

// last is the rank of something in an order: 1, after those of rank 0, where it is to come last.
func last(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// spreadOrDash is the spread of two peaks or more, as a percentage.
func spreadOrDash(peaks []int64) string {
	if len(peaks) < 2 {
		return "-"
	}
	return percent(spread(peaks), false)
}

func rateOrDash(i stats.Interval) string {
	if i.Median == 0 {
		return "-"
	}
	return shortInterval(i)
}
