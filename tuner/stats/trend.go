package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Trend is by how much the values of a series change from one to the next, with a 95%
// confidence interval. Low and High are infinite where there are too few values for one.
type Trend struct {
	Slope, Low, High float64 // in the values' unit, a value
}

// Rises says that the series grows, as far as the values tell.
func (t Trend) Rises() bool { return t.Low > 0 }

// Falls says that the series shrinks, as far as the values tell.
func (t Trend) Falls() bool { return t.High < 0 }

// mostTrendValues is the most values whose slopes are all computed; a longer series is
// first made into medians of blocks of one length.
const mostTrendValues = 400

// SeriesTrend is the trend of values at equal distances, in their order: the median of the
// slopes between all pairs (Theil 1950), with the interval of Kendall's rank correlation,
// corrected for ties (Sen, "Estimates of the regression coefficient based on Kendall's
// tau", Journal of the American Statistical Association 63, 1968, sections 4 and 6). A
// few outliers do not move it. It is an error where there are fewer than two values or one
// is not finite.
func SeriesTrend(values []float64) (Trend, error) {
	if len(values) == 1 {
		return Trend{}, ErrNoValues
	}
	if err := checkFinite(values); err != nil {
		return Trend{}, err
	}
	block := (len(values) + mostTrendValues - 1) / mostTrendValues
	medians := blockMedians(values, block)
	places := make([]float64, len(medians))
	for i := range places {
		places[i] = float64(i)
	}
	slopes := PairSlopes(places, medians)
	slices.Sort(slopes)
	reach := distuv.UnitNormal.Quantile((1+Confidence)/2) * math.Sqrt(kendallVariance(medians))
	low := int(math.Floor((float64(len(slopes))-reach)/2)) - 1
	high := int(math.Ceil((float64(len(slopes)) + reach) / 2))
	t := Trend{Slope: middle(slopes), Low: math.Inf(-1), High: math.Inf(1)}
	if low >= 0 && high < len(slopes) {
		t.Low, t.High = slopes[low], slopes[high]
	}
	per := float64(block)
	return Trend{t.Slope / per, t.Low / per, t.High / per}, nil
}

// blockMedians are the medians of as many whole blocks as there are.
func blockMedians(values []float64, block int) []float64 {
	if block == 1 {
		return values
	}
	var medians []float64
	for whole := range slices.Chunk(values, block) {
		if len(whole) == block {
			medians = append(medians, middle(slices.Sorted(slices.Values(whole))))
		}
	}
	return medians
}

// PairSlopes are the slopes between all pairs of points whose x differ (Theil 1950); x and y have as many values each.
func PairSlopes(x, y []float64) []float64 {
	slopes := make([]float64, 0, len(x)*(len(x)-1)/2)
	for j := range x {
		for i := range j {
			if x[i] != x[j] {
				slopes = append(slopes, (y[j]-y[i])/(x[j]-x[i]))
			}
		}
	}
	return slopes
}

// kendallVariance is the variance of Kendall's score of values that have no trend. Values
// that are equal make it smaller.
func kendallVariance(values []float64) float64 {
	term := func(n float64) float64 { return n * (n - 1) * (2*n + 5) }
	variance := term(float64(len(values)))
	sorted := slices.Sorted(slices.Values(values))
	for len(sorted) > 0 {
		ties := 1
		for ties < len(sorted) && sorted[ties] == sorted[0] {
			ties++
		}
		variance -= term(float64(ties))
		sorted = sorted[ties:]
	}
	return variance / 18
}
