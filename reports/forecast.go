package reports

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/plotter"

	"autotune/harness"
	"autotune/tuner"
)

// forecast is the run's prediction for a set, accumulating or not; nil: there is none.
func (d *digest) forecast(s tuner.Set, accumulates bool) *harness.ForecastRecord {
	for i, f := range d.Forecasts {
		if f.Set == s && (f.Accumulation > 1) == accumulates && len(f.Lines) > 0 {
			return &d.Forecasts[i]
		}
	}
	return nil
}

// forecastOf names the predicted counter, where it is another than the one that the limit holds.
func (d *digest) forecastOf(f *harness.ForecastRecord) string {
	if f.Counter == d.Header.LimitOn {
		return ""
	}
	return " " + counterOf(f.Counter).Noun
}

// predictions hold what was predicted before anything ran against what was measured, and say
// what could not be predicted, a line each.
func (d *digest) predictions() []finding {
	var list []finding
	if text := d.predictedText(); text != "" {
		list = append(list, finding{"Predicted", text})
	}
	for _, f := range d.Forecasts {
		if f.Failure == nil {
			continue
		}
		failed := finding{"Predicted", fmt.Sprintf("not for %s, so that the search went on without: %s", f.Set, headline(f.Failure.Text))}
		if !slices.Contains(list, failed) { // as for one pass a step, so for more
			list = append(list, failed)
		}
	}
	return list
}

// predictedText compares the peak of the recommended trial with its prediction; empty where there is none.
func (d *digest) predictedText() string {
	r := d.Recommendation
	at := slices.IndexFunc(d.results, func(t result) bool { return r != nil && t.Number == r.Trial })
	if at < 0 {
		return ""
	}
	t := d.results[at]
	f := d.forecast(t.Set(), t.Accumulation > 1)
	if f == nil || t.Record.Memory.Peak[f.Counter] == 0 {
		return ""
	}
	predicted, measured := f.Peak(t.MicroBatch), t.Record.Memory.Peak[f.Counter]
	return fmt.Sprintf("%s%s at %d, without running it; measured %s in trial %d (%s)", harness.FormatBytes(int64(predicted)), d.forecastOf(f), t.MicroBatch,
		harness.FormatBytes(measured), t.Number, percent(predicted/float64(measured)-1, true))
}

// forecastPoints are enough points to draw a forecast's corners.
const forecastPoints = 256

// forecastLine is a forecast drawn from one size to another, with memory in a unit.
func forecastLine(f *harness.ForecastRecord, from, to float64, u unit) plotter.XYs {
	var points plotter.XYs
	for i := range forecastPoints + 1 {
		x := from + (to-from)*float64(i)/forecastPoints
		y := 0.0
		for _, l := range f.Lines {
			y = max(y, l.Fixed+l.PerSample*x)
		}
		points = append(points, plotter.XY{X: x, Y: y / u.size})
	}
	return points
}
