package reports

import (
	"fmt"
	"io"

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
	// Peak is the median of Peaks, in bytes; null where none is known.
	Peak *int64 `json:"peak_memory_bytes"`
	// Peaks are the raw peaks of the repeats that ran, in bytes, in the order run.
	Peaks   []int64 `json:"repeat_peaks_bytes"`
	LimitOn string  `json:"limit_on"`
}

// benchResults are a run's configurations in the form that bench prints.
func benchResults(d *digest) []BenchResult {
	list := []BenchResult{}
	for _, c := range d.configs {
		r := BenchResult{
			Model: d.Header.Model, Engine: d.Header.Engine, Device: d.Header.Device,
			Precision: c.Precision, MicroBatch: c.MicroBatch, Accumulation: c.Accumulation, Knobs: c.Knobs,
			Status: c.status(), Trials: []int{}, Repeats: []float64{}, Peaks: append([]int64{}, c.Peaks...),
			LimitOn: d.Header.LimitOn,
		}
		for _, trial := range c.Results {
			r.Trials = append(r.Trials, trial.Number)
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

// benchTable writes one row for each configuration.
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
	columns := []column{left("precision"), right("batch"), right("repeats"), left(rateUnit(d.Header.Facts)),
		right("peak " + unit.name), right("spread"), left("status")}
	var rows [][]string
	for _, c := range d.configs {
		rows = append(rows, []string{c.Set().String(), shape(c.Config), fmt.Sprint(len(c.From)), rateOrDash(c.Throughput),
			peakText(unit, medianBytes(c.Peaks)), spreadOrDash(c.Peaks), c.status()})
	}
	if err := writeTable(w, columns, rows); err != nil {
		return err
	}
	for _, c := range d.configs {
		for _, r := range c.failed() {
			text := fmt.Sprintf("%s, trial %d: %s", c.Config, r.Number, r.shortReason())
			if _, err := fmt.Fprintln(w, wrap("", text)); err != nil {
				return err
			}
		}
	}
	return nil
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
