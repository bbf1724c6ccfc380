package reports

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// benchMarkdown is every configuration of a bench as a table of GitHub's Markdown, one scale a
// column: what ran stands before it, and why repeats failed and what makes figures doubtful behind it.
func (d *digest) benchMarkdown() ([]byte, error) {
	var out bytes.Buffer
	h := d.Header
	fmt.Fprintf(&out, "%s with %s on %s: %s.\n", codeSpan(h.Model), h.Engine, codeSpan(withClause(h.Device, h.DeviceName)), d.benchAnswer())
	if len(d.configs) == 0 {
		return out.Bytes(), nil
	}
	out.WriteString("\n")
	columns, rows := d.markdownTable()
	table := tablewriter.NewTable(&out,
		tablewriter.WithRenderer(renderer.NewMarkdown()),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithAlignment(aligns(columns)),
	)
	table.Header(names(columns))
	if err := table.Bulk(rows); err != nil {
		return nil, err
	}
	if err := table.Render(); err != nil {
		return nil, err
	}
	between := "\n"
	for _, c := range d.configs {
		for _, note := range append(c.failures(), c.warnings()...) {
			fmt.Fprintf(&out, "%s- %s: %s\n", between, codeSpan(c.String()), codeSpan(note))
			between = ""
		}
	}
	return out.Bytes(), nil
}

// markdownTable are the columns and rows of bench.md, the knobs among them where there are any.
func (d *digest) markdownTable() ([]column, [][]string) {
	largest := int64(0)
	for _, c := range d.configs {
		largest = max(largest, c.highestPeak())
	}
	u := unitFor(byteUnits, float64(largest))
	knobs := len(d.knobMarks()) > 0
	columns := []column{left("precision"), right("batch"), right("accumulation"), right("repeats"),
		right(rateUnit(d.Header.Facts) + " (95% interval)"), right("median " + peakHeading(u, largest)), right("highest"), left("status")}
	if knobs {
		columns = append(columns, left("knobs"))
	}
	var rows [][]string
	for _, c := range d.configs {
		row := []string{c.Precision, fmt.Sprint(c.MicroBatch), fmt.Sprint(c.Accumulation), fmt.Sprint(len(c.From)),
			rateOrDash(c.Throughput), peakText(u, medianBytes(c.Peaks)), peakText(u, c.highestPeak()), c.status()}
		if knobs {
			row = append(row, strings.ReplaceAll(codeSpan(c.Knobs), "|", `\|`))
		}
		rows = append(rows, row)
	}
	return columns, rows
}

// codeSpan is a text on one line that Markdown is to take as it is; nothing where it is empty.
func codeSpan(text string) string {
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(oneLine(text), "`", "'") + "`"
}
