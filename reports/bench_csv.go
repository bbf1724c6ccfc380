package reports

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"

	"autotune/tuner/stats"
)

// benchCSVHeader names the columns of bench.csv; all values are in base units.
var benchCSVHeader = []string{
	"model", "engine", "device", "precision", "knobs", "micro_batch", "accumulation_steps", "status", "repeats", "failed_repeats",
	"throughput_samples_per_second", "throughput_low", "throughput_high", "peak_memory_bytes", "peak_max_bytes", "limit_on",
	"failures", "warnings",
}

// benchCSV is every configuration of a bench, one a row. Repeats are those that ran, and the
// figures are over them: the median throughput with its interval, empty where there are too few for one, the
// median peak and the highest. A value that is not known is an empty cell.
func (d *digest) benchCSV() ([]byte, error) {
	rows := [][]string{benchCSVHeader}
	for _, c := range d.configs {
		low, high := c.Throughput.Low, c.Throughput.High
		if len(c.From) < stats.MinIntervalValues {
			low, high = 0, 0
		}
		rows = append(rows, []string{
			d.Header.Model, d.Header.Engine, d.Header.Device, c.Precision, c.Knobs,
			strconv.Itoa(c.MicroBatch), strconv.Itoa(c.Accumulation), c.status(), strconv.Itoa(len(c.From)), strconv.Itoa(len(c.failed())),
			decimal(c.Throughput.Median), decimal(low), decimal(high), whole(medianBytes(c.Peaks)), whole(c.highestPeak()), d.Header.LimitOn,
			strings.Join(c.failures(), "; "), strings.Join(c.warnings(), "; "),
		})
	}
	var out bytes.Buffer
	err := csv.NewWriter(&out).WriteAll(rows)
	return out.Bytes(), err
}
