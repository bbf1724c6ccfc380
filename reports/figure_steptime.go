package reports

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"autotune/tuner"
	"autotune/tuner/stats"
)

const (
	maxBars   = 14 // the most configurations that the figure of step times shows
	labelRoom = 70 // characters that fit below the bars in one line
)

// stepTime is the time of one optimizer step of a configuration, in seconds.
type stepTime struct {
	configuration
	stats.Interval
	// passes and rest split the median where the same micro-batch ran with another number of passes; else split is false.
	passes, rest float64
	split        bool
}

// stepTimeFigure draws the time of one optimizer step of each configuration, and
// splits it into the passes and what happens once a step where that can be
// calculated. With a global batch it shows the configurations that make it, which
// all train on the same number of samples; at most 14, the fastest.
func stepTimeFigure(d *digest) (*Figure, error) {
	f := newFigure("step-time", "Time of one optimizer step")
	times := stepTimes(d.configs)
	shown, note := chosenTimes(d, times)
	f.Caption = howToRead(shown) + " A bar is one configuration, micro-batch x accumulation steps; the whisker is its 95% interval. Where the same micro-batch " +
		"also ran with another number of passes, the bar is split, by calculation, into the passes (forward and backward) and the rest (once a step: optimizer and overhead)." + note
	slowest := 0.0
	for _, t := range shown {
		slowest = max(slowest, t.High)
	}
	u := unitFor(timeUnits, slowest)
	f.plot.X.Label.Text = "micro-batch x accumulation steps"
	f.plot.Y.Label.Text = fmt.Sprintf("step time (%s)", u.name)
	f.valueAxis(slowest / u.size)
	f.plot.X.Min, f.plot.X.Max = -0.6, max(float64(len(shown)), 1)-0.4
	if len(shown) == 0 {
		f.Empty, f.Caption = true, nothingRan
		f.plot.HideX()
		return f, nil
	}
	if err := f.addBars(shown, u); err != nil {
		return nil, err
	}
	knobs := d.knobMarks()
	names, widest := make([]string, len(shown)), 0
	for i, t := range shown {
		names[i] = shape(t.Config)
		widest = max(widest, len(names[i]))
	}
	for i, t := range shown {
		if widest*len(shown) > labelRoom {
			names[i] = fmt.Sprintf("%d\nx%d", t.MicroBatch, t.Accumulation)
		}
		if len(setsOf(shown)) > 1 {
			names[i] = knobs.set(t.Set()) + "\n" + names[i]
		}
	}
	if len(setsOf(shown)) > 1 && len(knobs) > 0 {
		f.Caption += " " + strings.Join(knobs.notes(), ", ") + "."
	}
	f.plot.NominalX(names...)
	f.plot.Y.Padding, f.plot.X.Padding = 0, 5
	f.plot.X.Min, f.plot.X.Max = -0.6, float64(len(shown))-0.4
	return f, nil
}

// howToRead says how to read the heights of bars.
func howToRead(shown []stepTime) string {
	for _, t := range shown {
		if t.Samples() != shown[0].Samples() {
			return "Steps of different numbers of samples stand side by side, so that a lower bar need not be faster: the throughput says that."
		}
	}
	return "Lower is faster."
}

// stepTimes are the step times of the configurations that ran.
func stepTimes(configs []configuration) []stepTime {
	var list []stepTime
	for _, c := range configs {
		if !c.ran() {
			continue
		}
		n := float64(c.Samples())
		list = append(list, stepTime{configuration: c, Interval: stats.Interval{
			Median: n / c.Throughput.Median, Low: n / c.Throughput.High, High: n / c.Throughput.Low}})
	}
	type size struct {
		tuner.Set
		microBatch int
	}
	alike := map[size][]stepTime{}
	for _, t := range list {
		of := size{t.Set(), t.MicroBatch}
		alike[of] = append(alike[of], t)
	}
	for i, t := range list {
		list[i].divide(alike[size{t.Set(), t.MicroBatch}])
	}
	return list
}

// divide splits a step's time by a line through the times of the same set and
// micro-batch at different accumulation steps: time = rest + passes x time of a pass.
func (t *stepTime) divide(alike []stepTime) {
	var points plotter.XYs
	for _, o := range alike {
		points = append(points, plotter.XY{X: float64(o.Accumulation), Y: o.Median})
	}
	rest, _, ok := fitLine(points)
	if !ok {
		return
	}
	t.split = true
	t.rest = min(max(rest, 0), t.Median)
	t.passes = t.Median - t.rest
}

// chosenTimes are the configurations to show, and a sentence on what is left out.
func chosenTimes(d *digest, times []stepTime) ([]stepTime, string) {
	shown := slices.DeleteFunc(slices.Clone(times), func(t stepTime) bool {
		return d.Header.GlobalBatch > 0 && t.Samples() != d.Header.GlobalBatch
	})
	if len(shown) == 0 {
		shown = times
	}
	note := ""
	if len(shown) > maxBars {
		note = fmt.Sprintf(" Only the %d fastest of %d are shown.", maxBars, len(shown))
		byRate := slices.Clone(shown)
		slices.SortStableFunc(byRate, func(a, b stepTime) int {
			if a.Throughput.Median > b.Throughput.Median {
				return -1
			}
			return 1
		})
		last := byRate[maxBars-1].Throughput.Median
		shown = slices.DeleteFunc(slices.Clone(shown), func(t stepTime) bool { return t.Throughput.Median < last })
		shown = shown[:maxBars]
	}
	return shown, note
}

func setsOf(times []stepTime) map[tuner.Set]bool {
	sets := map[tuner.Set]bool{}
	for _, t := range times {
		sets[t.Set()] = true
	}
	return sets
}

// addBars draws the bars, split where they can be, and their whiskers.
func (f *Figure) addBars(shown []stepTime, u unit) error {
	passes, rest, whole := make(plotter.Values, len(shown)), make(plotter.Values, len(shown)), make(plotter.Values, len(shown))
	var whiskers intervals
	anySplit, anyWhole := false, false
	for i, t := range shown {
		if t.split {
			passes[i], rest[i], anySplit = t.passes/u.size, t.rest/u.size, true
		} else {
			whole[i], anyWhole = t.Median/u.size, true
		}
		whiskers.add(float64(i), stats.Interval{Median: t.Median / u.size, Low: t.Low / u.size, High: t.High / u.size})
	}
	var below *plotter.BarChart
	for _, part := range []struct {
		name   string
		color  color.Color
		values plotter.Values
		any    bool
	}{{"passes", series[0], passes, anySplit}, {"rest of the step", series[1], rest, anySplit}, {"not split", muted, whole, anyWhole}} {
		bars, err := plotter.NewBarChart(part.values, vg.Length(min(26, 300/len(shown))))
		if err != nil {
			return err
		}
		bars.Color, bars.LineStyle = part.color, draw.LineStyle{}
		if below != nil {
			bars.StackOn(below)
		}
		below = bars
		f.plot.Add(bars)
		if part.any {
			f.describe(part.name, bars)
		}
	}
	return f.addIntervals(whiskers, draw.LineStyle{Color: ink, Width: 1})
}
