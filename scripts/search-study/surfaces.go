package main

import (
	"bytes"
	"fmt"
	"slices"

	"autotune/workloads/simulated/study"
)

// manyConfigurations is more than a search may try on every surface.
const manyConfigurations = 12

// surfaces writes what is reached on the recorded surfaces, in sum and a row a surface.
func surfaces(w *bytes.Buffer) error {
	replays, err := study.ReplayAll(study.Recorded)
	if err != nil {
		return err
	}
	reversed, err := study.ReplayAll(study.Reversed)
	if err != nil {
		return err
	}
	within := 0
	for _, r := range slices.Concat(replays, reversed) {
		if r.Tried <= r.Budget {
			within++
		}
	}
	fmt.Fprintf(w, `
### Recorded surfaces of real cards

Throughput reached, as a part of the best recorded one that fits. The sources are named in
workloads/simulated/recorded/surfaces.jsonl.

- At most half of the configurations may be tried, six where there are fewer than twelve. autotune kept to that in %d of %d searches.
- The device knows the recorded configurations only. Another one is answered as one that does not run, and does not count.
- A run past the card's memory that goes on many times slower does not count as fitting.
- The largest that fits is the mean where several configurations have that size, the random half the mean of %d draws.
- Where six configurations or fewer were recorded all may be tried, so that those surfaces tell little: the right half of
  the first table is of those with %d or more.
`, within, 2*len(replays), study.RandomDraws, manyConfigurations)
	sumTable(replays, reversed).write(w, "In sum:")
	t := table{head: []string{"surface", "configurations", "may be tried", "tried", "autotune", "largest that fits", "random half"}}
	for _, r := range replays {
		t.add(fmt.Sprintf("%s (%s)", r.Surface.Name, r.Surface.GPU),
			fmt.Sprint(len(r.Surface.Points)), fmt.Sprint(r.Budget), fmt.Sprint(r.Tried),
			percent(r.Share), percent(r.Largest), percent(r.Random))
	}
	t.write(w, "A row a surface:")
	return nil
}

// sumTable sums up the strategies over all surfaces, and over those with many configurations.
func sumTable(replays, reversed []study.Replay) *table {
	t := &table{head: []string{"strategy", "surfaces", "98% or more", "mean", "least", "with 12 or more", "98% or more", "mean", "least"}}
	for _, s := range []struct {
		name    string
		replays []study.Replay
		share   func(study.Replay) float64
	}{
		{"autotune", replays, func(r study.Replay) float64 { return r.Share }},
		{"autotune, precisions and knobs in reverse order", reversed, func(r study.Replay) float64 { return r.Share }},
		{"largest that fits", replays, func(r study.Replay) float64 { return r.Largest }},
		{"random half", replays, func(r study.Replay) float64 { return r.Random }},
	} {
		var all, many []float64
		for _, r := range s.replays {
			all = append(all, s.share(r))
			if len(r.Surface.Points) >= manyConfigurations {
				many = append(many, s.share(r))
			}
		}
		t.add(append(append([]string{s.name}, shareCells(all)...), shareCells(many)...)...)
	}
	return t
}

// shareCells are the number of shares, the part of them at 98% or more, their mean and the least.
func shareCells(shares []float64) []string {
	least := 1.0
	for _, s := range shares {
		least = min(least, s)
	}
	return []string{
		fmt.Sprint(len(shares)),
		percent(study.Share(shares, func(x float64) bool { return x >= 0.98 })),
		percent(study.Summarise(shares).Mean), percent(least),
	}
}
