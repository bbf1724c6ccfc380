package reports

import (
	"slices"

	"gonum.org/v1/plot/plotter"
)

// fitLine fits y = fixed + slope x by the median of the slopes between all pairs
// and the median of what is left, which a few outliers do not move (Sen,
// "Estimates of the regression coefficient based on Kendall's tau", 1968). It is
// not ok where fewer than two x differ.
func fitLine(points plotter.XYs) (fixed, slope float64, ok bool) {
	var slopes, rests []float64
	for i, a := range points {
		for _, b := range points[i+1:] {
			if a.X != b.X {
				slopes = append(slopes, (b.Y-a.Y)/(b.X-a.X))
			}
		}
	}
	if len(slopes) == 0 {
		return 0, 0, false
	}
	slope = middle(slopes)
	for _, p := range points {
		rests = append(rests, p.Y-slope*p.X)
	}
	return middle(rests), slope, true
}

// middle is the median of one or more values.
func middle(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
