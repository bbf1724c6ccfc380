package reports

import (
	"gonum.org/v1/plot/plotter"

	"autotune/tuner/stats"
)

// mostFitted is the most points whose slopes are all taken.
const mostFitted = 300

// fitLine fits y = fixed + slope x by the median of the slopes between all pairs
// and the median of what is left, which a few outliers do not move (Sen,
// "Estimates of the regression coefficient based on Kendall's tau", 1968). It is
// not ok where fewer than two x differ. Many points are first thinned out.
func fitLine(points plotter.XYs) (fixed, slope float64, ok bool) {
	points = thinned(points, mostFitted)
	var x, y, rests []float64
	for _, p := range points {
		x, y = append(x, p.X), append(y, p.Y)
	}
	slope, err := stats.Median(stats.PairSlopes(x, y))
	if err != nil { // there are none
		return 0, 0, false
	}
	for _, p := range points {
		rests = append(rests, p.Y-slope*p.X)
	}
	fixed, err = stats.Median(rests)
	return fixed, slope, err == nil
}
