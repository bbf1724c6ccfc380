package study

import (
	"math"
	"slices"
)

// Summary is the distribution of a figure over devices.
type Summary struct{ Mean, Median, P5, P95, Max float64 }

// Summarise sums up the values. A percentile is the smallest value that at least
// that share of the values does not pass. All fields are NaN where there are no values.
func Summarise(values []float64) Summary {
	if len(values) == 0 {
		return Summary{math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	sorted := slices.Sorted(slices.Values(values))
	at := func(share float64) float64 {
		return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
	}
	sum := 0.0
	for _, v := range sorted {
		sum += v
	}
	return Summary{sum / float64(len(sorted)), at(0.5), at(0.05), at(0.95), sorted[len(sorted)-1]}
}

// Share is the part of the values for which the condition holds; NaN where there are none.
func Share(values []float64, holds func(float64) bool) float64 {
	n := 0
	for _, v := range values {
		if holds(v) {
			n++
		}
	}
	return float64(n) / float64(len(values))
}
