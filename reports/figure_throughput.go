package reports

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"autotune/tuner"
)

// throughputFigure draws throughput against micro-batch, each point with its 95%
// interval, and marks the sizes that failed. A run without a measurement gives
// empty axes.
func throughputFigure(d *digest) (*Figure, error) {
	f := newFigure("throughput", "Throughput against micro-batch")
	f.Caption = "Higher is faster. Each point is one configuration; its bar is the 95% interval, so that two points whose bars " +
		"overlap may be equally fast; a point without a bar has too few values for an interval. Sizes that failed stand on the axis."
	sizes, fastest := []float64{}, 0.0
	for _, c := range d.configs {
		sizes = append(sizes, float64(c.MicroBatch))
		fastest = max(fastest, c.Throughput.High)
	}
	if fastest == 0 {
		f.Caption = nothingRan + " Sizes that failed stand on the axis."
	}
	f.plot.X.Label.Text = fmt.Sprintf("micro-batch (%ss)", sampleUnit(d.Header.Facts))
	f.plot.Y.Label.Text = fmt.Sprintf("throughput (%s)", rateUnit(d.Header.Facts))
	f.valueAxis(fastest)
	for n, s := range seriesOf(d) {
		if err := f.addRates(s, n); err != nil {
			return nil, err
		}
	}
	if err := f.markFailures(d.configs, f.plot.Y.Max*0.025); err != nil {
		return nil, err
	}
	if err := f.markRecommended(d); err != nil {
		return nil, err
	}
	if len(d.configs) > maxDrawn {
		f.Caption += fmt.Sprintf(" Of a series of many configurations %d are drawn, at even distances.", maxDrawn)
	}
	sizeAxis(f.plot, sizes, true)
	return f, nil
}

// nothingRan is the caption of a figure of what did not happen.
const nothingRan = "No configuration ran, so that there is nothing to show."

// rateSeries is one line of the figure.
type rateSeries struct {
	name    string
	order   int // 0: the run's global batch; else its accumulation steps
	configs []configuration
}

// seriesOf puts the configurations that ran into series: for each precision and
// knob set first those of the run's global batch, then the others by their
// accumulation steps.
func seriesOf(d *digest) []rateSeries {
	var list []rateSeries
	for _, c := range d.configs {
		if !c.ran() {
			continue
		}
		s := rateSeries{name: fmt.Sprintf("%s, %s", c.Set(), passes(c.Accumulation)), order: c.Accumulation}
		if g := d.Header.GlobalBatch; g > 0 && c.Samples() == g {
			s = rateSeries{name: fmt.Sprintf("%s, global batch %d", c.Set(), g)}
		}
		at := slices.IndexFunc(list, func(o rateSeries) bool { return o.name == s.name })
		if at < 0 {
			at = len(list)
			list = append(list, s)
		}
		list[at].configs = append(list[at].configs, c)
	}
	slices.SortStableFunc(list, func(a, b rateSeries) int { return a.order - b.order })
	return list
}

// passes is a number of accumulation steps in words.
func passes(n int) string {
	if n == 1 {
		return "1 pass a step"
	}
	return fmt.Sprintf("%d passes a step", n)
}

// addRates draws one series with its intervals.
func (f *Figure) addRates(s rateSeries, n int) error {
	var points plotter.XYs
	var bars intervals
	for _, c := range thinned(s.configs, maxDrawn) {
		points = append(points, plotter.XY{X: float64(c.MicroBatch), Y: c.Throughput.Median})
		bars.add(float64(c.MicroBatch), c.Throughput)
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	stroke(line, n, 1)
	scatter, err := marks(points, n)
	if err != nil {
		return err
	}
	f.plot.Add(line)
	if err := f.addIntervals(bars, line.LineStyle); err != nil {
		return err
	}
	f.plot.Add(scatter)
	f.describe(s.name, line, scatter)
	return nil
}

// markFailures marks the sizes of which no trial ran, at a height. What the engine
// cannot do at all says nothing of a size and is left out.
func (f *Figure) markFailures(configs []configuration, height float64) error {
	var memory, other plotter.XYs
	for _, c := range configs {
		point := plotter.XY{X: float64(c.MicroBatch), Y: height}
		switch failed := c.failed(); {
		case c.ran() || len(failed) == 0 || failed[0].Status == tuner.Unsupported:
		case failed[0].Status == tuner.OOM:
			memory = append(memory, point)
		default:
			other = append(other, point)
		}
	}
	if err := f.failures(thinned(memory, maxDrawn), "did not fit", cross{}); err != nil {
		return err
	}
	return f.failures(thinned(other, maxDrawn), "failed otherwise", ring{})
}

// markRecommended draws a ring around the recommended configuration.
func (f *Figure) markRecommended(d *digest) error {
	for _, c := range d.configs {
		if !c.ran() || !d.recommended(c.Config) {
			continue
		}
		mark, err := plotter.NewScatter(plotter.XYs{{X: float64(c.MicroBatch), Y: c.Throughput.Median}})
		if err != nil {
			return err
		}
		mark.GlyphStyle = draw.GlyphStyle{Color: ink, Radius: 7, Shape: ring{}}
		f.plot.Add(mark)
		f.describe("recommended", mark)
	}
	return nil
}
