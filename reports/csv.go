package reports

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"time"
)

// csvHeader names the columns of trials.csv; all values are in base units.
var csvHeader = []string{
	"trial", "repeat", "purpose", "precision", "knobs", "micro_batch", "accumulation_steps", "status",
	"throughput_samples_per_second", "throughput_low", "throughput_high", "timed_steps", "peak_memory_bytes",
	"seen_peak_bytes", "wall_seconds", "worker", "started", "failure_type", "failure_phase", "failure_text",
}

// trialsCSV is every trial of the run, one a row, in the order run. A value that
// is not known is an empty cell.
func (d *digest) trialsCSV() ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	rows := [][]string{csvHeader}
	for _, r := range d.results {
		rows = append(rows, csvRow(r))
	}
	err := w.WriteAll(rows)
	return out.Bytes(), err
}

func csvRow(r result) []string {
	row := []string{
		strconv.Itoa(r.Number), whole(int64(r.Record.Repeat)), string(r.Purpose), r.Precision, r.Knobs,
		strconv.Itoa(r.MicroBatch), strconv.Itoa(r.Accumulation), string(r.Status),
		decimal(r.Throughput.Median), decimal(r.Throughput.Low), decimal(r.Throughput.High), strconv.Itoa(len(r.StepSeconds)),
		whole(r.PeakBytes), whole(r.Record.SeenPeakBytes), decimal(r.WallSeconds), strconv.Itoa(r.Record.Worker),
		r.Record.Started.UTC().Format(time.RFC3339Nano),
	}
	if f := r.Record.Failure; f != nil {
		return append(row, f.Type, f.Phase, f.Text)
	}
	return append(row, "", "", "")
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
