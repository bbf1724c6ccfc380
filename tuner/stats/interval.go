// Package stats summarises and compares measurements: medians, intervals, ratios.
package stats

// Interval is a median with a 95% confidence interval. Low and High equal
// Median where there are too few values for an interval.
type Interval struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}
