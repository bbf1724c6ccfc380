package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestWrap holds that no word is lost or changed, and that no line is too long but one of a single word.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-zä·]{1,12}`), 1, 12).Draw(t, "words"), " ")
		width := rapid.IntRange(1, 40).Draw(t, "width")
		wrapped := wrap(text, width)
		if strings.ReplaceAll(wrapped, "\n", " ") != text {
			t.Fatalf("%q became %q", text, wrapped)
		}
		for line := range strings.SplitSeq(wrapped, "\n") {
			if utf8.RuneCountInString(line) > width && strings.Contains(line, " ") {
				t.Fatalf("%q is longer than %d", line, width)
			}
		}
	})
}
