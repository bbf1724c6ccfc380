package main

import (
	"fmt"
	"io"

	"autotune/workloads/simulated/study"
)

// surfaces writes a row for every recorded surface.
func surfaces(w io.Writer) error {
	replays, err := study.ReplayAll()
	if err != nil {
		return err
	}
	t := table{head: []string{"surface", "configurations", "may be tried", "tried", "autotune", "largest that fits", "random half"}}
	var ours, largest, random []float64
	within := 0
	for _, r := range replays {
		t.add(fmt.Sprintf("%s (%s)", r.Surface.Name, r.Surface.GPU),
			fmt.Sprint(len(r.Surface.Points)), fmt.Sprint(r.Budget), fmt.Sprint(r.Tried),
			percent(r.Share), percent(r.Largest), percent(r.Random))
		ours, largest, random = append(ours, r.Share), append(largest, r.Largest), append(random, r.Random)
		if r.Tried <= r.Budget {
			within++
		}
	}
	fmt.Fprintf(w, `
### Recorded surfaces of real cards

Throughput reached as a part of the best recorded one that fits, on %d surfaces; sources are in
workloads/simulated/recorded/surfaces.jsonl. At most half of the configurations may be tried, six where there are fewer than
twelve; autotune kept to that on %d. A configuration that was never recorded is answered as one that does not run, and does not count. A
run past the card's memory that goes on many times slower does not count as fitting. The largest that fits is the mean where
several configurations have that size; the random half is the mean of %d draws.
`, len(replays), within, study.RandomDraws)
	sum := table{head: []string{"strategy", "surfaces at 98% or more", "mean", "5%"}}
	for _, s := range []struct {
		name   string
		shares []float64
	}{{"autotune", ours}, {"largest that fits", largest}, {"random half", random}} {
		summary := study.Summarise(s.shares)
		sum.add(s.name, percent(study.Share(s.shares, func(x float64) bool { return x >= 0.98 })), percent(summary.Mean), percent(summary.P5))
	}
	sum.write(w, "In sum:")
	t.write(w, "A row a surface:")
	return nil
}
