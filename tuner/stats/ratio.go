package stats

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	mm "github.com/aclements/go-moremath/stats"
	"gonum.org/v1/gonum/stat/distuv"
)

// Ratio is how many times as large the values of one sample are as those of another.
type Ratio struct {
	// Ratio is the estimate; 1: no change.
	Ratio float64 `json:"ratio"`
	// Low and High are its 95% confidence interval. They equal Ratio where Enough is false.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// P is the probability, were the two samples of one distribution, of ranks that
	// differ as much as these or more (two-sided).
	P float64 `json:"p"`
	// Enough says that there were enough values for an interval: from four against four on.
	Enough bool `json:"enough"`
}

// Contains says that the ratio may be x as far as the values tell: x is in the
// interval, or there were too few values for one.
func (r Ratio) Contains(x float64) bool { return !r.Enough || r.Low <= x && x <= r.High }

// CompareRatio gives the ratio of the new values to the old ones.
//
// The estimate is that of Hodges and Lehmann on logarithms, the median of all
// ratios of a new value to an old one; its interval is that of the ratios' order
// statistics at the quantiles of the Mann-Whitney U distribution (Hollander, Wolfe
// and Chicken, "Nonparametric Statistical Methods", 3rd edition, sections 4.2 and
// 4.3), exact up to 20 values a side and by the normal approximation above. P is
// that of the Mann-Whitney test, ties counted; 1 where all values are equal.
//
// It is an error where a sample is empty or has a value that is not finite or not above 0.
func CompareRatio(old, new []float64) (Ratio, error) {
	for _, s := range []struct {
		name   string
		values []float64
	}{{"old", old}, {"new", new}} {
		if err := checkPositive(s.values); err != nil {
			return Ratio{}, fmt.Errorf("%s sample: %w", s.name, err)
		}
	}
	d := differences{x: sortedLogs(new), y: sortedLogs(old)}
	p, err := pValue(d.y, d.x)
	if err != nil {
		return Ratio{}, err
	}
	n := len(old) * len(new)
	center := math.Exp(d.kth((n+1)/2)/2 + d.kth(n/2+1)/2)
	r := Ratio{Ratio: center, Low: center, High: center, P: p}
	if k := uOrder(len(old), len(new)); k > 0 {
		r.Low, r.High, r.Enough = math.Exp(d.kth(k)), math.Exp(d.kth(n+1-k)), true
	}
	return r, nil
}

// pValue is that of the two-sided Mann-Whitney test: twice the smaller of the two
// one-sided ones. (The library's own two-sided value takes the distribution to be
// symmetric, which it is not where values tie.) The samples are sorted.
func pValue(old, new []float64) (float64, error) {
	if slices.Equal(old, new) { // what the test would say of ties in the middle, at a great expense
		return 1, nil
	}
	for _, s := range [][2][]float64{{old, new}, {new, old}} {
		result, err := mm.MannWhitneyUTest(s[0], s[1], mm.LocationLess)
		switch {
		case errors.Is(err, mm.ErrSamplesEqual):
			return 1, nil
		case err != nil:
			return 0, fmt.Errorf("Mann-Whitney test: %w", err)
		}
		if result.P <= 0.5 {
			return 2 * result.P, nil
		}
	}
	return 1, nil
}

// exactLimit is the largest sample for which uOrder uses the exact distribution.
const exactLimit = 20

// uOrder is the largest k for which the k-th smallest and the k-th largest of the
// m times n ratios enclose at least 95%; 0: there is none.
func uOrder(m, n int) int {
	const tail = (1 - Confidence) / 2
	if max(m, n) > exactLimit {
		mean := float64(m) * float64(n) / 2
		deviation := math.Sqrt(mean * float64(m+n+1) / 6)
		return max(0, int(math.Floor(mean+0.5+deviation*distuv.UnitNormal.Quantile(tail))))
	}
	if k, ok := exactOrders.Load([2]int{m, n}); ok {
		return k.(int)
	}
	u := mm.UDist{N1: m, N2: n}
	k := 0
	for u.CDF(float64(k)) <= tail {
		k++
	}
	exactOrders.Store([2]int{m, n}, k)
	return k
}

// exactOrders remembers what uOrder gave, by m and n: the distribution takes
// milliseconds, and a search asks for the same one many times.
var exactOrders sync.Map

// sortedLogs are the logarithms of positive values, rising.
func sortedLogs(values []float64) []float64 {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	slices.Sort(logs)
	return logs
}
