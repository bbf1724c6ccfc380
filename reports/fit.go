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
	var slopes, rests []float64
	for i, a := range points {
		for _, b := range points[i+1:] {
			if a.X != b.X {
				slopes = append(slopes, (b.Y-a.Y)/(b.X-a.X))
			}
		}
	}
	slope, err := stats.Median(slopes)
	if err != nil { // there are none
		return 0, 0, false
	}
	for _, p := range points {
		rests = append(rests, p.Y-slope*p.X)
	}
	fixed, err = stats.Median(rests)
	return fixed, slope, err == nil
}
