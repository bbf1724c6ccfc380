package reports

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"autotune/tuner/stats"
)

// csvHeader names the columns of trials.csv that every run has; all values are in base units.
var csvHeader = []string{
	"trial", "repeat", "purpose", "precision", "knobs", "micro_batch", "accumulation_steps", "status",
	"throughput_samples_per_second", "throughput_low", "throughput_high", "timed_steps", "peak_memory_bytes",
	"seen_peak_bytes", "wall_seconds", "worker", "started", "failure_type", "failure_phase", "failure_text",
	"median_step_seconds", "median_device_step_seconds", "skipped_steps", "allocator_retries", "warnings",
}

// trialsCSV is every trial of the run, one a row, in the order run. A value that
// is not known is an empty cell. At the end are three columns for each counter of memory that
// the run has: its peak in the trial, and its bytes before and after it.
func (d *digest) trialsCSV() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	seen := countersSeen(d.results)
	header := slices.Clone(csvHeader)
	for _, c := range seen {
		header = append(header, c.Name+"_peak_bytes", c.Name+"_before_bytes", c.Name+"_after_bytes")
	}
	err := w.Write(header)
	for _, r := range d.results {
		err = errors.Join(err, w.Write(append(csvRow(r), csvMemory(r, seen)...)))
	}
	w.Flush()
	return out.Bytes(), errors.Join(err, w.Error())
}

func csvRow(r result) []string {
	row := []string{
		strconv.Itoa(r.Number), whole(int64(r.Record.Repeat)), string(r.Purpose), r.Precision, r.Knobs,
		strconv.Itoa(r.MicroBatch), strconv.Itoa(r.Accumulation), string(r.Status),
		decimal(r.Throughput.Median), decimal(r.Throughput.Low), decimal(r.Throughput.High), strconv.Itoa(len(r.StepSeconds)),
		whole(r.PeakBytes), whole(r.Record.SeenPeakBytes), decimal(r.WallSeconds), strconv.Itoa(r.Record.Worker),
		r.Record.Started.UTC().Format(time.RFC3339Nano),
	}
	failure := []string{"", "", ""}
	if f := r.Record.Failure; f != nil {
		failure = []string{f.Type, f.Phase, f.Text}
	}
	return append(append(row, failure...), decimal(medianOf(r.StepSeconds)), decimal(medianOf(r.Record.DeviceSeconds)),
		whole(int64(r.Record.SkippedSteps)), whole(r.Record.Memory.AllocatorRetries), strings.Join(r.Warnings, "; "))
}

// csvMemory are the cells of the counters.
func csvMemory(r result, seen []counter) []string {
	var row []string
	for _, c := range seen {
		for _, values := range []map[string]int64{r.Record.Memory.Peak, r.Record.Memory.Baseline, r.Record.Memory.After} {
			cell := ""
			if n, known := values[c.Name]; known {
				cell = strconv.FormatInt(n, 10)
			}
			row = append(row, cell)
		}
	}
	return row
}

// medianOf is the median, or 0 for no value.
func medianOf(values []float64) float64 {
	median, err := stats.Median(values)
	if err != nil { // there are none
		return 0
	}
	return median
}

// whole is a number, or empty where it is 0, which the records use for "not known".
func whole(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// decimal is a number in full precision, or empty where it is 0: not known.
func decimal(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprint(v)
}
