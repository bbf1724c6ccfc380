package reports

import (
	"cmp"
	"fmt"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"autotune/harness"
	"autotune/tuner"
)

const (
	// limitInSight is how many times the highest peak the limit may be for its line to be drawn.
	limitInSight = 4
	// sizesInSight is how many times the largest size that ran the axis of sizes may reach, for those that failed.
	sizesInSight = 2
	// peaksInSight is how many times the limit, or the highest peak that ran, the axis of memory may reach.
	peaksInSight = 1.5
)

// memoryFigure draws the peak memory of every trial against its micro-batch, with
// the limit and, for each set, a line fitted to the trials that ran.
func memoryFigure(d *digest) (*Figure, error) {
	f := newFigure("memory", "Peak memory against micro-batch")
	f.Caption = "Each point is the measured peak of one trial; of one that did not fit, what was seen until it was stopped (at the top where that is more, or nothing was seen). The lines are fitted to the points that ran (a fixed part and a part for each sample), " +
		"not measured; where one meets the limit is about where training stops fitting."
	list, note := sizesToShow(d.results)
	list, left := trialsToDraw(list)
	f.Caption += note + left
	highest, top := highestPeaks(list)
	if top == 0 {
		f.Empty, f.Caption = true, "No trial's memory is known, so that there is nothing to show."
	}
	limit := d.Header.LimitBytes
	drawLimit := limit != nil && (highest == 0 || *limit <= limitInSight*highest)
	if drawLimit {
		highest = max(highest, *limit)
	}
	highest = max(highest, min(top, int64(peaksInSight*float64(highest))))
	var sizes []float64
	for _, r := range list {
		sizes = append(sizes, float64(r.MicroBatch))
	}
	u := unitFor(byteUnits, float64(highest))
	f.plot.X.Label.Text = fmt.Sprintf("micro-batch (%ss)", sampleUnit(d.Header.Facts))
	f.plot.Y.Label.Text = fmt.Sprintf("peak %s (%s)", counterOf(d.Header.LimitOn).Noun, u.name)
	f.valueAxis(float64(highest) / u.size)
	sizeAxis(f.plot, sizes, false)
	bottom, ceiling := f.plot.Y.Min, f.plot.Y.Max
	groups, err := f.addPeaks(list, u)
	if err != nil {
		return nil, err
	}
	if err := f.addForecasts(d, groups, u); err != nil {
		return nil, err
	}
	f.plot.Y.Min, f.plot.Y.Max = bottom, ceiling // which the fitted lines have moved
	if err := f.addFailedPeaks(list, u); err != nil {
		return nil, err
	}
	if limit == nil {
		return f, nil
	}
	if !drawLimit {
		f.Caption += fmt.Sprintf(" The limit, %s, lies far above.", harness.FormatBytes(*limit))
		return f, nil
	}
	return f, f.addLimit(*limit, u)
}

// sizesToShow are the trials to draw, and a sentence on those that are left out:
// failed ones so far above what ran that they would push the rest into a corner.
func sizesToShow(list []result) ([]result, string) {
	largest := 0
	for _, r := range list {
		if r.Status == tuner.OK {
			largest = max(largest, r.MicroBatch)
		}
	}
	most, left := sizesInSight*largest, 0
	shown := slices.DeleteFunc(slices.Clone(list), func(r result) bool {
		far := largest > 0 && r.MicroBatch > most && r.Status != tuner.Interrupted
		if far {
			left++
		}
		return far || r.Status == tuner.Interrupted
	})
	if left == 0 {
		return shown, ""
	}
	return shown, fmt.Sprintf(" %d failed %s above a micro-batch of %d %s left out.", left, plural(left, "trial"), most, isOrAre(left))
}

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// highestPeaks are the highest peak of the trials that ran, or of all where none
// did, and the highest of all; 0: none is known.
func highestPeaks(list []result) (ran, all int64) {
	for _, r := range list {
		all = max(all, r.Seen)
		if r.Status == tuner.OK {
			ran = max(ran, r.Seen)
		}
	}
	if ran == 0 {
		ran = all
	}
	return ran, all
}

// memoryGroup is what a peak depends on beside the micro-batch: the set, and
// whether gradients are accumulated.
type memoryGroup struct {
	tuner.Set
	accumulates bool
}

func (g memoryGroup) String() string {
	if g.accumulates {
		return g.Set.String() + ", accumulating"
	}
	return g.Set.String() + ", 1 pass a step"
}

// addPeaks draws the peaks of trials that ran, a series a group, with fitted lines, and
// gives the groups in the order of their series.
func (f *Figure) addPeaks(list []result, u unit) ([]memoryGroup, error) {
	var order []memoryGroup
	groups, sets := map[memoryGroup]plotter.XYs{}, map[tuner.Set]int{}
	for _, r := range list {
		if _, seen := sets[r.Set()]; !seen {
			sets[r.Set()] = len(sets)
		}
		if r.Status != tuner.OK || r.PeakBytes == 0 {
			continue
		}
		g := memoryGroup{r.Set(), r.Accumulation > 1}
		if _, seen := groups[g]; !seen {
			order = append(order, g)
		}
		groups[g] = append(groups[g], plotter.XY{X: float64(r.MicroBatch), Y: float64(r.PeakBytes) / u.size})
	}
	slices.SortStableFunc(order, func(a, b memoryGroup) int { // as the series of the throughput
		return cmp.Or(last(a.accumulates)-last(b.accumulates), sets[a.Set]-sets[b.Set])
	})
	for n, g := range order {
		scatter, err := marks(groups[g], n)
		if err != nil {
			return nil, err
		}
		fixed, slope, ok := fitLine(groups[g])
		if ok {
			from, to := max(f.plot.X.Min, 0), f.plot.X.Max
			line, err := plotter.NewLine(plotter.XYs{{X: from, Y: fixed + slope*from}, {X: to, Y: fixed + slope*to}})
			if err != nil {
				return nil, err
			}
			stroke(line, n, 0.8)
			f.plot.Add(line)
			f.plot.Add(scatter)
			f.describe(fmt.Sprintf("%s (fitted: %s + %s %s a sample)", g, figure(fixed), figure(slope), u.name), line, scatter)
			continue
		}
		f.plot.Add(scatter)
		f.describe(g.String(), scatter)
	}
	return order, nil
}

// addForecasts draws what was predicted of each group.
func (f *Figure) addForecasts(d *digest, groups []memoryGroup, u unit) error {
	named := map[string]bool{}
	for _, g := range groups {
		forecast := d.forecast(g.Set, g.accumulates)
		if forecast == nil {
			continue
		}
		line, err := plotter.NewLine(forecastLine(forecast, max(f.plot.X.Min, 0), f.plot.X.Max, u))
		if err != nil {
			return err
		}
		line.LineStyle = draw.LineStyle{Color: ink, Width: 0.8, Dashes: []vg.Length{2, 3}} // seen on top of a fitted line too
		f.plot.Add(line)
		if name := "predicted" + d.forecastOf(forecast); !named[name] {
			named[name] = true
			f.describe(name, line)
		}
	}
	if len(named) > 0 {
		f.Caption += " The dashed lines were predicted without running anything."
	}
	return nil
}

// addFailedPeaks marks the trials that failed: at what was seen of their memory, or
// at the top where one did not fit and nothing is known.
func (f *Figure) addFailedPeaks(list []result, u unit) error {
	var memory, other plotter.XYs
	for _, r := range list {
		if r.Status == tuner.OK || r.Seen == 0 && r.Status != tuner.OOM {
			continue
		}
		point := plotter.XY{X: float64(r.MicroBatch), Y: f.plot.Y.Max * 0.98}
		if r.Seen > 0 {
			point.Y = min(point.Y, float64(r.Seen)/u.size)
		}
		if r.Status == tuner.OOM {
			memory = append(memory, point)
		} else {
			other = append(other, point)
		}
	}
	if err := f.failures(memory, "did not fit", cross{}); err != nil {
		return err
	}
	return f.failures(other, "failed otherwise", ring{})
}

// addLimit draws the memory limit across the plot.
func (f *Figure) addLimit(limit int64, u unit) error {
	y := float64(limit) / u.size
	line, err := plotter.NewLine(plotter.XYs{{X: f.plot.X.Min, Y: y}, {X: f.plot.X.Max, Y: y}})
	if err != nil {
		return err
	}
	line.LineStyle = draw.LineStyle{Color: ink, Width: 1.2}
	line.Dashes = append(line.Dashes, 6, 3)
	f.plot.Add(line)
	f.describe("limit "+harness.FormatBytes(limit), line)
	return nil
}
