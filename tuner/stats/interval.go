package stats

import (
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is that of every interval of this package.
const Confidence = 0.95

// MinIntervalValues is the least number of values for which a distribution-free
// 95% interval of the median is finite: 1-2/2^5 is below 0.95, 1-2/2^6 is not.
const MinIntervalValues = 6

// Interval is a median with a 95% confidence interval. Low and High equal
// Median where there are too few values for an interval.
type Interval struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Median is the middle value, or the mean of the two middle ones. It is an error
// where there are no values or one is not finite.
func Median(values []float64) (float64, error) {
	sorted, err := sortedCopy(values)
	if err != nil {
		return 0, err
	}
	return middle(sorted), nil
}

// MedianInterval is the median with its distribution-free interval: the k-th
// smallest to the k-th largest value, where k is the largest number for which both
// tails of the binomial distribution of n tosses of a coin below k are together at
// most 5% (Conover, "Practical Nonparametric Statistics", 3rd edition, section 3.2).
// With fewer than MinIntervalValues values, Low and High are the median. It is an
// error where there are no values or one is not finite.
func MedianInterval(values []float64) (Interval, error) {
	sorted, err := sortedCopy(values)
	if err != nil {
		return Interval{}, err
	}
	m := middle(sorted)
	if len(sorted) < MinIntervalValues {
		return Interval{Median: m, Low: m, High: m}, nil
	}
	k := medianOrder(len(sorted))
	return Interval{Median: m, Low: sorted[k-1], High: sorted[len(sorted)-k]}, nil
}

// medianOrder is the k of MedianInterval for n values, 1 or more for n >= MinIntervalValues.
func medianOrder(n int) int {
	coin := distuv.Binomial{N: float64(n), P: 0.5}
	return sort.Search(n, func(k int) bool { return coin.CDF(float64(k)) > (1-Confidence)/2 })
}

// middle is the median of values that are sorted.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return sorted[n/2-1]/2 + sorted[n/2]/2
}

// sortedCopy is a rising copy of values that are finite, one or more.
func sortedCopy(values []float64) ([]float64, error) {
	if err := checkFinite(values); err != nil {
		return nil, err
	}
	return slices.Sorted(slices.Values(values)), nil
}
