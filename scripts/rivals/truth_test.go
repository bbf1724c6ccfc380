package main

import (
	"strings"
	"testing"
)

func TestTrueSize(t *testing.T) {
	for _, c := range []struct {
		name         string
		guess, truth int
		runs         func(int) bool
		err          string
	}{
		{"exact", 486, 486, func(s int) bool { return s <= 486 }, ""},
		{"too low", 438, 486, func(s int) bool { return s <= 486 }, ""},
		{"too high", 500, 486, func(s int) bool { return s <= 486 }, ""},
		{"one", 4, 1, func(s int) bool { return s <= 1 }, ""},
		{"a hole", 100, 0, func(s int) bool { return s <= 101 && s != 99 }, "no single border"},
		{"none", 100, 0, func(int) bool { return true }, "no border within"},
	} {
		ran := map[int]int{}
		got, err := trueSize(c.guess, func(size int) (bool, error) {
			ran[size]++
			return c.runs(size), nil
		})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.err)
			}
			continue
		}
		if err != nil || got != c.truth {
			t.Errorf("%s: %d (%v), want %d", c.name, got, err, c.truth)
		}
		for size := max(1, c.truth-eachSide); size <= c.truth+eachSide; size++ {
			if ran[size] != 1 {
				t.Errorf("%s: size %d was run %d times", c.name, size, ran[size])
			}
		}
	}
}
