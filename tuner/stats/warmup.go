package stats

// minWarmUpValues is the least number of values in which WarmUp looks for a beginning that
// differs: in fewer, a difference and chance look alike.
const minWarmUpValues = 10

// WarmUp is the number of values, in the order measured, that come before a series is
// steady: the truncation by the marginal standard error rule (MSER; White, "An effective
// truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997;
// its form over batches of five is what Hoad, Robinson and Davies chose from 44 methods, Journal of the
// Operational Research Society 61(9), 2010). It leaves out so many values that the standard error of the
// mean of the others is least, and never more than half: more is no warm-up but a series
// that is not steady (see SeriesTrend). 0 for fewer than ten values. It is an error where there
// are no values or one is not finite.
func WarmUp(values []float64) (int, error) {
	if err := checkFinite(values); err != nil {
		return 0, err
	}
	n := len(values)
	if n < minWarmUpValues {
		return 0, nil
	}
	// From the end on, so that each truncation's mean and sum of squares follow from the one
	// before (Welford, "Note on a method for calculating corrected sums of squares and
	// products", Technometrics 4(3), 1962).
	least, from := 0.0, 0
	mean, squares := 0.0, 0.0
	for i := n - 1; i >= 0; i-- {
		count := float64(n - i)
		change := values[i] - mean
		mean += change / count
		squares += change * (values[i] - mean)
		if i > n/2 {
			continue
		}
		if error2 := squares / (count * count); i == n/2 || error2 <= least {
			least, from = error2, i
		}
	}
	return from, nil
}
