//go:build linux

package main

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"
)

// tableOf is the table of docs/reliability.md.
func tableOf(outcomes []outcome, o options) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Made by `go run ./scripts/faults --moments %d` on %s with %s, %s/%s, on %d cores.\n\n", o.moments, time.Now().UTC().Format(time.DateOnly), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	b.WriteString("| kind | moments | came | held | trials that it hit | end of the run |\n| --- | ---: | ---: | ---: | --- | --- |\n")
	for i := range kinds {
		if row := rowOf(&kinds[i], outcomes); row != "" {
			b.WriteString(row)
		}
	}
	return b.String()
}

// rowOf is a kind's row; empty: it was not asked for.
func rowOf(k *kind, outcomes []outcome) string {
	ran, came, held, notRun := 0, 0, 0, ""
	hits, ends := map[string]int{}, map[string]int{}
	for _, o := range outcomes {
		switch {
		case o.kind != k:
			continue
		case o.notRun != "":
			notRun = o.notRun
			continue
		}
		ran++
		if o.came {
			came++
		}
		if len(o.problems) == 0 {
			held++
		}
		ends[o.end]++
		for _, status := range o.hits {
			hits[string(status)]++
		}
	}
	switch {
	case notRun != "":
		return fmt.Sprintf("| %s | not run | | | | %s |\n", k.name, strings.ReplaceAll(notRun, "\n", ", "))
	case ran == 0:
		return ""
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %s | %s |\n", k.name, ran, came, held, counted(hits, "none"), counted(ends, "none"))
}

// counted lists words with how often each came.
func counted(words map[string]int, none string) string {
	if len(words) == 0 {
		return none
	}
	var parts []string
	for _, word := range slices.Sorted(maps.Keys(words)) {
		parts = append(parts, fmt.Sprintf("%d %s", words[word], word))
	}
	return strings.Join(parts, ", ")
}
