package main

import (
	"bytes"
	"fmt"

	"autotune/workloads/simulated"
	"autotune/workloads/simulated/study"
)

// borders writes how the strategies find the border, a table for each range of devices.
func borders(w *bytes.Buffer) error {
	fmt.Fprint(w, `
### The largest micro-batch that fits

Objective batch, fp32, accumulation 1, a sharp border.

- Size is what the strategy would train with, as a part of the true border. Above 1 it does not fit.
- Trials leave out timing and soak.
- Seconds are simulated: on each device a part of those of Lightning's doubling and bisection without margin and largest
  size, which looks for the same thing. In brackets: with timing, which the others do not do.
- A trial that fails costs, for all, the part of a step up to the failure. The others start one process and go on in it
  after a failure. autotune pays for a new worker after each failure and wherever it asks for a fresh one.
`)
	for _, seeds := range []study.Seeds{study.Known, study.Unseen} {
		t := table{head: []string{"strategy", "border exact", "too large", "size: median", "size: 5%", "trials: median", "95%", "maximum", "failed: mean", "seconds: median"}}
		reference, err := study.FindAll(study.Reference(), seeds, simulated.Options{})
		if err != nil {
			return err
		}
		for _, s := range append([]study.Strategy{study.Ours(), study.OursWithoutLimit()}, study.Rivals()...) {
			finds, err := study.FindAll(s, seeds, simulated.Options{})
			if err != nil {
				return err
			}
			t.add(borderRow(s.Name, finds, reference)...)
		}
		t.write(w, fmt.Sprintf("%d devices, %v:", seeds.Last-seeds.First+1, seeds))
	}
	return nil
}

func borderRow(name string, finds, reference []study.Find) []string {
	sizes := study.Figures(finds, sizePart)
	trials := study.Summarise(study.Figures(finds, func(f study.Find) float64 { return float64(f.Trials) }))
	failed := study.Summarise(study.Figures(finds, func(f study.Find) float64 { return float64(f.Failures) }))
	search, all := study.SecondsRatio(finds, reference)
	seconds := number(study.Summarise(search).Median)
	if timed := number(study.Summarise(all).Median); timed != seconds {
		seconds += " (" + timed + ")"
	}
	size := study.Summarise(sizes)
	return []string{
		name,
		percent(study.Share(sizes, func(x float64) bool { return x == 1 })),
		percent(study.Share(sizes, func(x float64) bool { return x > 1 })),
		number(size.Median), number(size.P5),
		number(trials.Median), number(trials.P95), number(trials.Max), number(failed.Mean), seconds,
	}
}

func sizePart(f study.Find) float64 { return float64(f.Size) / float64(f.Border) }

// foreseen writes how autotune does with forecasts of memory.
func foreseen(w *bytes.Buffer) error {
	fmt.Fprint(w, `
autotune on the same devices with a forecast of their memory: what is fixed and what a sample adds, times 1 (right), 1.03, 0.97
and 1.3. Workspaces and the rounding to blocks are in no forecast, so that even the right one errs on most devices; where a
device has neither it takes three trials.
`)
	for _, seeds := range []study.Seeds{study.Known, study.Unseen} {
		t := table{head: []string{"strategy", "border exact", "trials: median", "mean", "95%", "maximum", "in 3 or fewer", "failed: mean"}}
		for _, s := range append([]study.Strategy{study.Ours()}, study.Foreseen()...) {
			finds, err := study.FindAll(s, seeds, simulated.Options{})
			if err != nil {
				return err
			}
			t.add(foreseenRow(s.Name, finds)...)
		}
		t.write(w, fmt.Sprintf("%d devices, %v:", seeds.Last-seeds.First+1, seeds))
	}
	return nil
}

func foreseenRow(name string, finds []study.Find) []string {
	proven := study.Figures(finds, func(f study.Find) float64 {
		if f.Proven {
			return 1
		}
		return 0
	})
	counts := study.Figures(finds, func(f study.Find) float64 { return float64(f.Trials) })
	trials := study.Summarise(counts)
	failed := study.Summarise(study.Figures(finds, func(f study.Find) float64 { return float64(f.Failures) }))
	return []string{
		name, percent(study.Summarise(proven).Mean),
		number(trials.Median), number(trials.Mean), number(trials.P95), number(trials.Max),
		percent(study.Share(counts, func(n float64) bool { return n <= 3 })), number(failed.Mean),
	}
}

// harder writes how autotune does where the devices are less well-behaved.
func harder(w *bytes.Buffer) error {
	t := table{head: []string{"devices", "border exact", "size: 5%", "size: median", "size: 95%", "trials: median", "95%", "maximum"}}
	for _, c := range []struct {
		name    string
		options simulated.Options
	}{
		{"as above", simulated.Options{}},
		{"fuzzy border: peaks spread by 1%", simulated.Options{Fuzzy: 0.01}},
		{"fuzzy border: peaks spread by 5%", simulated.Options{Fuzzy: 0.05}},
		{"5% of the trials fail for another reason", simulated.Options{Failures: 0.05}},
		{"5% of the sizes always fail for another reason", simulated.Options{Holes: 0.05}},
	} {
		finds, err := study.FindAll(study.Ours(), study.Known, c.options)
		if err != nil {
			return err
		}
		sizes := study.Figures(finds, sizePart)
		size := study.Summarise(sizes)
		trials := study.Summarise(study.Figures(finds, func(f study.Find) float64 { return float64(f.Trials) }))
		t.add(c.name, percent(study.Share(sizes, func(x float64) bool { return x == 1 })),
			number(size.P5), number(size.Median), number(size.P95),
			number(trials.Median), number(trials.P95), number(trials.Max))
	}
	t.write(w, fmt.Sprintf("autotune on devices that are less well-behaved, %v. With a fuzzy border the true one is that of the mean peak:", study.Known))
	return nil
}
