package reports

import (
	"fmt"
	"strings"
	"unicode"
)

const (
	reasonLong = 200      // characters of a reason outside of a table
	textEnd    = 16 << 10 // characters that excerpt keeps at either end
)

// printable is what a program printed, made fit to be shown: characters that would
// steer a terminal, be invisible or turn the text's direction are replaced; line ends
// and tabs stay.
func printable(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// firstLine is the first line of a printable text that is not empty, its spaces made one.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(printable(text)), "\n")
	return strings.Join(strings.Fields(line), " ")
}

// headline is what stands for a text that is folded away: its first line, shortened.
func headline(text string) string { return shorten(firstLine(text), reasonLong) }

// isLong says whether a text has more than one line, such as a traceback.
func isLong(text string) bool { return strings.Contains(strings.TrimSpace(printable(text)), "\n") }

// excerpt is a printable text for the page; of a long one the beginning and the end.
func excerpt(text string) string {
	runes := []rune(printable(text))
	left := len(runes) - 2*textEnd
	if left <= 0 {
		return string(runes)
	}
	return fmt.Sprintf("%s\n[%d characters left out; all are in run.jsonl]\n%s",
		string(runes[:textEnd]), left, string(runes[len(runes)-textEnd:]))
}

// shorten cuts a text to a number of characters and ends it with "..." where it cut.
func shorten(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	return strings.TrimRight(string(runes[:most-3]), " ") + "..."
}
