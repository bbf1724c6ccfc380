package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"autotune/tuner"
	"autotune/tuner/stats"
)

const (
	maxRows    = 40 // of a terminal table of trials
	reasonWide = 19 // characters of a failure's reason in the terminal
)

// Table writes the trials for a terminal of 80 columns: those of the
// recommended configuration first, then those that prove the borders, then the
// failures, then the rest, each in the order run. More than 40 are cut, and a
// line says how many more are in trials.csv. Knobs have marks, which the last
// lines explain. A run without trials gives one line that says so.
func (r Report) Table(w io.Writer) error {
	d := r.digest
	if len(d.results) == 0 {
		_, err := fmt.Fprintln(w, "No trial has run.")
		return err
	}
	shown := d.byInterest(maxRows)
	columns, rows := d.trialColumns(shown), d.trialRows(shown)
	if d.Header.LimitBytes != nil && tableWidth(columns, rows) > terminalWidth {
		columns, rows = withoutLast(columns, rows)
	}
	if err := writeTable(w, columns, rows); err != nil {
		return err
	}
	if more := len(d.results) - len(shown); more > 0 {
		if _, err := fmt.Fprintf(w, "%d more in trials.csv\n", more); err != nil {
			return err
		}
	}
	return writeLines(w, d.knobMarks().notes())
}

// byInterest gives so many results at most: those of the recommended configuration first, then borders,
// failures, and the rest.
func (d *digest) byInterest(most int) []result {
	border := d.borderTrials()
	rank := func(r result) int {
		switch {
		case d.recommended(r.Config):
			return 0
		case border[r.Number]:
			return 1
		case r.Status != tuner.OK:
			return 2
		}
		return 3
	}
	var ordered []result
	for wanted := range 4 {
		for _, r := range d.results {
			if len(ordered) == most {
				return ordered
			}
			if rank(r) == wanted {
				ordered = append(ordered, r)
			}
		}
	}
	return ordered
}

// recommended says whether the configuration is the run's recommendation.
func (d *digest) recommended(c tuner.Config) bool {
	r := d.Recommendation
	return r != nil && c == tuner.Config{
		Precision: r.Precision, MicroBatch: r.MicroBatch, Accumulation: r.Accumulation, Knobs: r.Knobs,
	}
}

// borderTrials are the numbers of the trials that prove the recommendation's borders.
func (d *digest) borderTrials() map[int]bool {
	numbers := map[int]bool{}
	if d.Recommendation == nil {
		return numbers
	}
	for _, b := range d.Recommendation.Largest {
		if b.RanTrial > 0 {
			numbers[b.RanTrial] = true
		}
		if b.FailedTrial != nil {
			numbers[*b.FailedTrial] = true
		}
	}
	return numbers
}

// trialColumns are the columns of the table of trials: without the share of the
// limit, which is the last, where there is none.
func (d *digest) trialColumns(shown []result) []column {
	columns := []column{right("trial"), left("for"), left("prec."), right("batch"), left("status"),
		left(rateUnit(d.Header.Facts)), right(peakHeading(peakUnit(shown)))}
	if d.Header.LimitBytes != nil {
		columns = append(columns, right("limit"))
	}
	return columns
}

func (d *digest) trialRows(shown []result) [][]string {
	unit, _ := peakUnit(shown)
	marks := d.knobMarks()
	var rows [][]string
	for _, r := range shown {
		row := []string{fmt.Sprint(r.Number), string(r.Purpose), marks.set(r.Set()), shape(r.Config), string(r.Status),
			rateOrReason(r), peakText(unit, r.Seen)}
		if limit := d.Header.LimitBytes; limit != nil {
			row = append(row, shareText(r.Seen, *limit))
		}
		rows = append(rows, row)
	}
	return rows
}

// rateOrReason is a trial's throughput, or why it has none.
func rateOrReason(r result) string {
	if r.ran() {
		return shortInterval(r.Throughput)
	}
	return shorten(r.shortReason(), reasonWide)
}

// shortInterval is an interval as "412.3 (405.1-420.8)".
func shortInterval(i stats.Interval) string {
	return strings.Replace(intervalText(i), " to ", "-", 1)
}

// peakHeading names the column of peaks, without a unit where none is known.
func peakHeading(u unit, largest int64) string {
	if largest == 0 {
		return "peak"
	}
	return "peak " + u.name
}

// peakUnit is the unit for the column of peaks, and the largest of them.
func peakUnit(list []result) (u unit, largest int64) {
	for _, r := range list {
		largest = max(largest, r.Seen)
	}
	return unitFor(byteUnits, float64(largest)), largest
}

// peakText is a peak in the column's unit, or a dash where it is not known.
func peakText(u unit, peak int64) string {
	if peak == 0 {
		return "-"
	}
	return u.text(float64(peak))
}

// shareText is a peak as a share of the limit, or a dash where it is not known.
func shareText(peak, limit int64) string {
	if peak == 0 || limit == 0 {
		return "-"
	}
	return percent(float64(peak)/float64(limit), false)
}

func hasKnobs(list []result) bool {
	return slices.ContainsFunc(list, func(r result) bool { return r.Knobs != "" })
}
