package main

import (
	"bytes"
	"fmt"

	"autotune/workloads/simulated"
	"autotune/workloads/simulated/study"
)

// throughputs writes how near the recommendation is to the best of brute force.
func throughputs(w *bytes.Buffer) error {
	fmt.Fprint(w, `
### The most throughput

Objective throughput, fp32. The share is that of brute force's throughput over all sizes that fit, both without noise.
Trials leave out the soak. With a global batch of 1024 the sizes are its divisors; devices on which none fits are left out.
`)
	t := table{head: []string{"devices, global batch", "at least 98%", "at least 95%", "median", "5%", "least", "trials: median", "95%", "maximum", "failed: mean"}}
	for _, seeds := range []study.Seeds{study.Known, study.Unseen} {
		for _, globalBatch := range []int{0, 1024} {
			speeds, err := study.Fastest(seeds, simulated.Options{}, globalBatch)
			if err != nil {
				return err
			}
			t.add(speedRow(seeds, globalBatch, speeds)...)
		}
	}
	t.write(w, "By range of devices and global batch:")
	return nil
}

func speedRow(seeds study.Seeds, globalBatch int, speeds []study.Speed) []string {
	var shares, trials, failed []float64
	least := 1.0
	for _, s := range speeds {
		if s.Best.MicroBatch == 0 {
			continue
		}
		shares, least = append(shares, s.Share), min(least, s.Share)
		trials, failed = append(trials, float64(s.Trials)), append(failed, float64(s.Failures))
	}
	name := fmt.Sprintf("%v, any", seeds)
	if globalBatch > 0 {
		name = fmt.Sprintf("%v, %d", seeds, globalBatch)
	}
	share, trial := study.Summarise(shares), study.Summarise(trials)
	atLeast := func(x float64) string {
		return percent(study.Share(shares, func(share float64) bool { return share >= x }))
	}
	return []string{
		name, atLeast(0.98), atLeast(0.95), percent(share.Median), percent(share.P5), percent(least),
		number(trial.Median), number(trial.P95), number(trial.Max), number(study.Summarise(failed).Mean),
	}
}
