package main

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// helpWidth is the width of help and of tables, in columns.
const helpWidth = 80

// wrapFor breaks a text at its spaces to the width of the terminal that w is; elsewhere it stays one line.
func wrapFor(w io.Writer, text string) string {
	file, ok := w.(*os.File)
	if !ok {
		return text
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width < 1 {
		return text
	}
	return wrap(text, width)
}

// wrap breaks a line at its spaces so that none is longer than width columns but for a word that is.
func wrap(text string, width int) string {
	var b strings.Builder
	column := 0
	for i, word := range strings.Split(text, " ") {
		length := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+length > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += length
	}
	return b.String()
}
