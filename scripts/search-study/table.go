package main

import (
	"bytes"
	"fmt"
	"strings"
)

// table is a table of Markdown. The first column is text, the others are numbers.
type table struct {
	head []string
	rows [][]string
}

// add adds a row, with one cell for each column of the head.
func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// write writes the table with a title above it.
func (t *table) write(w *bytes.Buffer, title string) {
	fmt.Fprintf(w, "\n%s\n\n", title)
	line := func(cells []string) { fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | ")) }
	line(t.head)
	rule := []string{"---"}
	for range t.head[1:] {
		rule = append(rule, "---:")
	}
	line(rule)
	for _, row := range t.rows {
		line(row)
	}
}

// percent writes a part of 1 as a percentage.
func percent(part float64) string { return fmt.Sprintf("%.1f%%", 100*part) }

// number writes a figure with up to three significant digits.
func number(x float64) string { return fmt.Sprintf("%.3g", x) }
