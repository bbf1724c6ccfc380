package reports

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"autotune/tuner/stats"
)

// logSpan is the ratio of the largest size to the smallest from which sizes go on a log axis.
const logSpan = 8

// sizeAxis sets the horizontal axis for micro-batches, which are 1 or more:
// logarithmic where they span a wide range and logarithmic is wanted. No size
// gives the range 1 to 2.
func sizeAxis(p *plot.Plot, sizes []float64, logarithmic bool) {
	low, high := bounds(sizes)
	if low < 1 {
		low, high = 1, 2
	}
	if logarithmic && high/low >= logSpan {
		p.X.Min, p.X.Max = low/math.Sqrt2, high*math.Sqrt2
		p.X.Scale = plot.LogScale{}
		p.X.Tick.Marker = plot.TickerFunc(powerTicks)
		return
	}
	margin := math.Max((high-low)*0.06, 0.5)
	p.X.Min, p.X.Max = math.Max(0, low-margin), high+margin
	p.X.Tick.Marker = plot.TickerFunc(wholeTicks)
}

// bounds are the least and the largest value; 0 and 0 for none.
func bounds(values []float64) (low, high float64) {
	for i, v := range values {
		if i == 0 || v < low {
			low = v
		}
		if i == 0 || v > high {
			high = v
		}
	}
	return low, high
}

// powerTicks are the powers of two in a range above 0, at most ten of them with a label.
func powerTicks(low, high float64) []plot.Tick {
	first, last := int(math.Ceil(math.Log2(low))), int(math.Floor(math.Log2(high)))
	step := (last-first)/10 + 1
	var ticks []plot.Tick
	for e := first; e <= last; e++ {
		tick := plot.Tick{Value: math.Ldexp(1, e)}
		if (e-first)%step == 0 {
			tick.Label = strconv.FormatFloat(tick.Value, 'f', -1, 64)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// wholeTicks are round whole numbers in a range, about eight of them.
func wholeTicks(low, high float64) []plot.Tick {
	return steppedTicks(low, high, math.Max(1, roundStep((high-low)/8)))
}

// roundTicks are round numbers in a range, about six of them.
func roundTicks(low, high float64) []plot.Tick {
	return steppedTicks(low, high, roundStep((high-low)/6))
}

func steppedTicks(low, high, step float64) []plot.Tick {
	decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high*(1+1e-9); i++ {
		value := i * step
		ticks = append(ticks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'f', decimals, 64)})
	}
	return ticks
}

// roundStep is the next of 1, 2, 5, 10, ... times a power of ten that is not below the least step; 1 for a step of 0.
func roundStep(least float64) float64 {
	if !(least > 0) {
		return 1
	}
	base := math.Pow(10, math.Floor(math.Log10(least)))
	for _, m := range []float64{1, 2, 5} {
		if least <= m*base*(1+1e-9) {
			return m * base
		}
	}
	return 10 * base
}

// valueAxis sets the vertical axis from 0 to a little above the largest value, with lines across the plot.
func (f *Figure) valueAxis(largest float64) {
	f.plot.Y.Min, f.plot.Y.Max = 0, largest*1.08
	if !(largest > 0) {
		f.plot.Y.Max = 1
	}
	f.plot.Y.Tick.Marker = plot.TickerFunc(roundTicks)
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal = draw.LineStyle{Color: rule, Width: 0.7}
	f.plot.Add(grid)
}

// shapeOf is the shape of the points of series number n. Where the colours begin again it
// goes with another colour than before.
func shapeOf(n int) draw.GlyphDrawer { return shapes[(n+n/len(series))%len(shapes)] }

// marks are points of one kind, with the styles of series number n.
func marks(points plotter.XYs, n int) (*plotter.Scatter, error) {
	s, err := plotter.NewScatter(points)
	if err != nil {
		return nil, err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: series[n%len(series)], Radius: 3.2, Shape: shapeOf(n)}
	return s, nil
}

// failures draws the points of trials that failed, in the alarm colour, where there are any.
func (f *Figure) failures(points plotter.XYs, name string, shape draw.GlyphDrawer) error {
	if len(points) == 0 {
		return nil
	}
	s, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	s.GlyphStyle = draw.GlyphStyle{Color: alarm, Radius: 4, Shape: shape}
	f.plot.Add(s)
	f.describe(name, s)
	return nil
}

// intervals are points with the distances to the ends of their intervals.
type intervals struct {
	plotter.XYs
	plotter.YErrors
}

// add adds an interval at x, unless there were too few values for one.
func (i *intervals) add(x float64, v stats.Interval) {
	if v.Low == v.High {
		return
	}
	i.XYs = append(i.XYs, plotter.XY{X: x, Y: v.Median})
	i.YErrors = append(i.YErrors, struct{ Low, High float64 }{v.Median - v.Low, v.High - v.Median})
}

// addIntervals draws intervals as vertical bars.
func (f *Figure) addIntervals(i intervals, style draw.LineStyle) error {
	if len(i.XYs) == 0 {
		return nil
	}
	bars, err := plotter.NewYErrorBars(i)
	if err != nil {
		return err
	}
	bars.LineStyle = style
	f.plot.Add(bars)
	return nil
}

// stroke gives a line a width and the colour of series number n.
func stroke(l *plotter.Line, n int, width vg.Length) {
	l.LineStyle = draw.LineStyle{Color: series[n%len(series)], Width: width}
}
