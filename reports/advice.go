package reports

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"

	"autotune/harness"
	"autotune/tuner"
)

// Advice is one thing that would help beyond the recommendation.
type Advice struct {
	Text string
	// General says that it is common knowledge, not something this run measured.
	General bool
}

// advise says what else would help: what the run's own trials show first, then
// general advice. It is empty for a run that only just has no answer yet.
func (d *digest) advise() []Advice {
	if d.Recommendation == nil {
		if d.nothingFits() {
			return append(measured(d.expandable(), d.freeDevice()), d.freeMemory()...)
		}
		return nil
	}
	list := measured(d.smallerBatch(), d.otherKnobs(), d.largerLimit(), d.expandable(), d.freeDevice(), d.otherPrecisions())
	switch {
	case d.boundByMemory():
		return append(list, d.freeMemory()...)
	case d.boundBySizes():
		return append(list, Advice{Text: "Memory was not what stopped the search, so that more of it would not help by itself."})
	}
	return list
}

// measured are pieces of advice that rest on the run's own trials, those that are empty left out.
func measured(texts ...string) []Advice {
	var list []Advice
	for _, text := range texts {
		if text != "" {
			list = append(list, Advice{Text: text})
		}
	}
	return list
}

// nothingFits says whether trials failed for want of memory and none ran.
func (d *digest) nothingFits() bool {
	short := slices.ContainsFunc(d.results, func(r result) bool { return r.Status == tuner.OOM })
	return short && !slices.ContainsFunc(d.results, result.ran)
}

// freeMemory is general advice on needing less memory.
func (d *digest) freeMemory() []Advice {
	var list []Advice
	for _, text := range []string{
		d.optimizerState(),
		d.checkpointing(),
		"A lower precision, where engine and device support it, halves the activations; a smaller model needs less of everything.",
		d.emptyCache(),
		"The learning rate frees no memory.",
	} {
		if text != "" {
			list = append(list, Advice{Text: text, General: true})
		}
	}
	return list
}

// bound is what ended the search for a larger size in the recommended set.
func (d *digest) bound() string {
	r := d.Recommendation
	for _, b := range r.Largest {
		if b.Set == (tuner.Set{Precision: r.Precision, Knobs: r.Knobs}) {
			return b.Bound
		}
	}
	return ""
}

// boundByMemory says whether more memory would allow more: a larger size did not
// fit, or one that ran does not leave the headroom.
func (d *digest) boundByMemory() bool {
	if d.bound() == "memory" {
		return true
	}
	return d.Header.Headroom > 0 && slices.ContainsFunc(d.results, func(r result) bool { return r.ran() && !d.leavesHeadroom(r) })
}

// boundBySizes says whether the search ended at the largest size that was allowed.
func (d *digest) boundBySizes() bool {
	return d.bound() == "batch range" || d.bound() == "global batch"
}

// What a configuration of less memory may have of the recommended peak, and has to have of
// its throughput, to be worth a line.
const (
	leaner     = 0.95
	fastEnough = 0.5
)

// smallerBatch names the trial of the same global batch, by more accumulation, that
// needs the least memory of those that are not much slower than the recommended one,
// where that is clearly less.
func (d *digest) smallerBatch() string {
	r := d.Recommendation
	set := tuner.Set{Precision: r.Precision, Knobs: r.Knobs}
	var best result
	for _, t := range d.results {
		same := t.Set() == set && t.Samples() == r.GlobalBatch && t.Accumulation > r.Accumulation
		fast := t.Throughput.Median >= fastEnough*r.Throughput.Median
		if same && fast && t.ran() && t.PeakBytes > 0 && (best.Number == 0 || t.PeakBytes < best.PeakBytes) {
			best = t
		}
	}
	if best.Number == 0 || float64(best.PeakBytes) > leaner*float64(r.PeakBytes) {
		return ""
	}
	return fmt.Sprintf("More accumulation: the same global batch as %s peaked at %s in trial %d, with %s of the throughput.",
		best.Config, harness.FormatBytes(best.PeakBytes), best.Number, percent(best.Throughput.Median/r.Throughput.Median, false))
}

// largerLimit says what a sample costs, from the line fitted to the peaks of the
// recommended set.
func (d *digest) largerLimit() string {
	r := d.Recommendation
	if r.LimitBytes == nil || !d.boundByMemory() {
		return ""
	}
	var points plotter.XYs
	for _, t := range d.results {
		same := t.Set() == tuner.Set{Precision: r.Precision, Knobs: r.Knobs} && (t.Accumulation > 1) == (r.Accumulation > 1)
		if t.Status == tuner.OK && t.PeakBytes > 0 && same {
			points = append(points, plotter.XY{X: float64(t.MicroBatch), Y: float64(t.PeakBytes)})
		}
	}
	_, slope, ok := fitLine(points)
	if !ok || slope <= 0 {
		return ""
	}
	text := fmt.Sprintf("A larger memory limit: each sample more in the micro-batch takes about %s (fitted to the %d peaks measured).",
		harness.FormatBytes(int64(slope)), len(points))
	if r.Objective == string(tuner.Throughput) {
		text += " Whether sizes that do not fit now would be faster is not known."
	}
	return text
}

// otherPrecisions names the precisions that were asked for and that the engine cannot do.
func (d *digest) otherPrecisions() string {
	var names []string
	for _, t := range d.results {
		if t.Status == tuner.Unsupported && t.Knobs == "" && !slices.Contains(names, t.Precision) {
			names = append(names, t.Precision)
		}
	}
	if len(names) == 0 {
		return ""
	}
	if d.Header.Engine == pyTorch {
		return fmt.Sprintf("Another device: PyTorch cannot run %s on %s.", strings.Join(names, ", "), withClause(d.Header.Device, d.Header.DeviceName))
	}
	return fmt.Sprintf("Another engine: %s cannot run %s here.", d.Header.Engine, strings.Join(names, ", "))
}

// optimizerState says what a leaner optimizer would free, by calculation; empty
// where the optimizer keeps no state.
func (d *digest) optimizerState() string {
	h := d.Header
	states := map[string]int64{"momentum": 1, "adam": 2, "adamw": 2}[h.Settings.Optimizer]
	leaner := map[int64]string{1: "sgd keeps none", 2: "momentum keeps 1, sgd none"}[states]
	size := int64(4) // bytes a value: mixed precisions keep the optimizer's state in float32
	if d.precision() == "fp64" {
		size = 8
	}
	if states == 0 || h.Facts.Parameters == 0 {
		return ""
	}
	return fmt.Sprintf("A leaner optimizer: %s keeps %d %s for each parameter, %s by calculation; %s.",
		h.Settings.Optimizer, states, plural(int(states), "value"), harness.FormatBytes(states*size*h.Facts.Parameters), leaner)
}

// precision is the recommended one, or, where there is none, the first that was asked for.
func (d *digest) precision() string {
	if d.Recommendation != nil {
		return d.Recommendation.Precision
	}
	if asked := d.Header.Settings.Precision; len(asked) > 0 {
		return asked[0]
	}
	return ""
}
