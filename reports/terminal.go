package reports

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// column is one column of a terminal table.
type column struct {
	name  string
	align tw.Align
}

func left(name string) column  { return column{name, tw.AlignLeft} }
func right(name string) column { return column{name, tw.AlignRight} }

// names are the columns' headings.
func names(columns []column) []string {
	var list []string
	for _, c := range columns {
		list = append(list, c.name)
	}
	return list
}

// aligns are the columns' alignments.
func aligns(columns []column) tw.Alignment {
	var list tw.Alignment
	for _, c := range columns {
		list = append(list, c.align)
	}
	return list
}

// writeTable writes a table with a rule under its header and no other lines, so
// that it is narrow and can be pasted anywhere. Each row has as many cells as
// there are columns.
func writeTable(w io.Writer, columns []column, rows [][]string) error {
	alignment := aligns(columns)
	var out strings.Builder
	table := tablewriter.NewTable(&out,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbols(tw.StyleASCII),
			Settings: tw.Settings{
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On, ShowFooterLine: tw.Off},
				Separators: tw.SeparatorsNone,
			},
		})),
		tablewriter.WithPadding(tw.Padding{Left: "", Right: "  ", Overwrite: true}),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: alignment}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: alignment}),
	)
	table.Header(names(columns))
	if err := table.Bulk(rows); err != nil {
		return err
	}
	if err := table.Render(); err != nil {
		return err
	}
	for line := range strings.Lines(out.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// tableWidth is how many characters the longest line of a table has.
func tableWidth(columns []column, rows [][]string) int {
	const between = 2 // characters of space behind each column, the last too
	width := 0
	for i, c := range columns {
		widest := utf8.RuneCountInString(c.name)
		for _, row := range rows {
			widest = max(widest, utf8.RuneCountInString(row[i]))
		}
		width += widest + between
	}
	return width
}

// withoutLast is a table without its last column.
func withoutLast(columns []column, rows [][]string) ([]column, [][]string) {
	last := len(columns) - 1
	var cut [][]string
	for _, row := range rows {
		cut = append(cut, row[:last])
	}
	return columns[:last], cut
}

// writeLines writes lines, each wrapped.
func writeLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, wrap("", line)); err != nil {
			return err
		}
	}
	return nil
}

// terminalWidth is the number of characters that lines are broken at.
const terminalWidth = 80

// wrap breaks a text into lines that fit the terminal, the first behind a head,
// the others indented as far.
func wrap(head, text string) string {
	lines := head
	room := terminalWidth - len(head)
	used := 0
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case used == 0:
			used = n
		case used+1+n > room:
			lines += "\n" + strings.Repeat(" ", len(head))
			used = n
		default:
			lines += " "
			used += 1 + n
		}
		lines += word
	}
	return lines
}
