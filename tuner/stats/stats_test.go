package stats_test

import (
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autotune/tuner/stats"
)

func TestMedianInterval(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   stats.Interval
	}{
		{"one", []float64{3}, stats.Interval{Median: 3, Low: 3, High: 3}},
		{"two", []float64{4, 3}, stats.Interval{Median: 3.5, Low: 3.5, High: 3.5}},
		{"five are too few", []float64{5, 1, 4, 2, 3}, stats.Interval{Median: 3, Low: 3, High: 3}},
		{"six", []float64{6, 1, 5, 2, 4, 3}, stats.Interval{Median: 3.5, Low: 1, High: 6}},
		{"eight", []float64{8, 7, 6, 5, 4, 3, 2, 1}, stats.Interval{Median: 4.5, Low: 1, High: 8}},
		{"nine", []float64{9, 8, 7, 6, 5, 4, 3, 2, 1}, stats.Interval{Median: 5, Low: 2, High: 8}},
		{"equal", []float64{7, 7, 7, 7, 7, 7}, stats.Interval{Median: 7, Low: 7, High: 7}},
		{"no overflow", []float64{math.MaxFloat64, math.MaxFloat64}, stats.Interval{Median: math.MaxFloat64, Low: math.MaxFloat64, High: math.MaxFloat64}},
	} {
		before := slices.Clone(c.values)
		got, err := stats.MedianInterval(c.values)
		if err != nil || got != c.want {
			t.Errorf("%s: got %v, %v, want %v", c.name, got, err, c.want)
		}
		if m, err := stats.Median(c.values); err != nil || m != c.want.Median {
			t.Errorf("%s: median %v, %v", c.name, m, err)
		}
		if !slices.Equal(before, c.values) {
			t.Errorf("%s: the values were changed", c.name)
		}
	}
}

// The orders of the interval's ends, as sums of binomial coefficients give them: for
// 10 values P(X <= 1) = 11/1024 is within 2.5% and P(X <= 2) = 56/1024 is not.
func TestMedianIntervalOrders(t *testing.T) {
	for n, low := range map[int]float64{10: 2, 15: 4, 20: 6, 30: 10, 50: 18, 100: 40} {
		var values []float64
		for i := range n {
			values = append(values, float64(i+1))
		}
		got, err := stats.MedianInterval(values)
		if err != nil || got.Low != low || got.High != float64(n+1)-low {
			t.Errorf("%d values: got %v, %v, want %v to %v", n, got, err, low, float64(n+1)-low)
		}
	}
}

func TestBadValues(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
	}{
		{"none", nil}, {"NaN", []float64{1, math.NaN()}}, {"infinite", []float64{math.Inf(1)}},
	} {
		if _, err := stats.Median(c.values); err == nil {
			t.Errorf("%s: a median was given", c.name)
		}
		if _, err := stats.MedianInterval(c.values); err == nil {
			t.Errorf("%s: an interval was given", c.name)
		}
		for _, pair := range [][2][]float64{{c.values, {1, 2}}, {{1, 2}, c.values}} {
			if _, err := stats.CompareRatio(pair[0], pair[1]); err == nil {
				t.Errorf("%s: a ratio was given", c.name)
			}
		}
	}
	if _, err := stats.Median(nil); !errors.Is(err, stats.ErrNoValues) {
		t.Errorf("no values: %v", err)
	}
	for _, v := range []float64{0, -1} {
		if _, err := stats.CompareRatio([]float64{1, v}, []float64{1}); err == nil {
			t.Errorf("a ratio to %v was given", v)
		}
	}
}

func TestCompareRatio(t *testing.T) {
	six := []float64{100, 101, 102, 103, 104, 105}
	for _, c := range []struct {
		name     string
		old, new []float64
		ratio    float64
		enough   bool
		p        float64
	}{
		{"identical", six, six, 1, true, 1},
		{"all equal, as peaks may be", []float64{5, 5, 5, 5, 5, 5}, []float64{5, 5, 5, 5, 5, 5}, 1, true, 1},
		{"twice", six, []float64{200, 202, 204, 206, 208, 210}, 2, true, 2.0 / 924},
		{"three against three are too few", six[:3], []float64{200, 202, 204}, 2, false, 0.1},
		{"four against four", six[:4], []float64{200, 202, 204, 206}, 2, true, 2.0 / 70},
		{"one against one", []float64{4}, []float64{5}, 1.25, false, 1},
		{"one against many", []float64{4}, []float64{5, 5, 5, 5, 5, 5}, 1.25, false, 2.0 / 7},
	} {
		got, err := stats.CompareRatio(c.old, c.new)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if math.Abs(got.Ratio-c.ratio) > 1e-12 || got.Enough != c.enough || math.Abs(got.P-c.p) > 1e-9 {
			t.Errorf("%s: got %+v, want ratio %v, enough %v, p %v", c.name, got, c.ratio, c.enough, c.p)
		}
		if !got.Contains(got.Ratio) {
			t.Errorf("%s: %+v does not contain its ratio", c.name, got)
		}
		if c.p == 1 && !got.Contains(1) {
			t.Errorf("%s: %+v does not contain 1", c.name, got)
		}
	}
}

// The interval of six against six is that of the 6th and the 31st of the 36 ratios:
// P(U <= 5) = 19/924 is within 2.5% and P(U <= 6) = 30/924 is not.
func TestCompareRatioIntervalOfSixAgainstSix(t *testing.T) {
	old := []float64{1, 1, 1, 1, 1, 1}
	new := []float64{1, 2, 3, 4, 5, 6}
	got, err := stats.CompareRatio(old, new)
	if err != nil || math.Abs(got.Low-1) > 1e-12 || math.Abs(got.High-6) > 1e-12 || math.Abs(got.Ratio-math.Sqrt(12)) > 1e-12 {
		t.Errorf("got %+v, %v, want %v in 1 to 6", got, err, math.Sqrt(12))
	}
	shifted := []float64{1, 1.01, 1.02, 1.03, 1.04, 1.05}
	got, err = stats.CompareRatio(shifted, []float64{1.1, 1.11, 1.12, 1.13, 1.14, 1.15})
	ratios := make([]float64, 0, 36)
	for _, o := range shifted {
		for _, n := range []float64{1.1, 1.11, 1.12, 1.13, 1.14, 1.15} {
			ratios = append(ratios, n/o)
		}
	}
	slices.Sort(ratios)
	if err != nil || math.Abs(got.Low-ratios[5]) > 1e-12 || math.Abs(got.High-ratios[30]) > 1e-12 {
		t.Errorf("got %+v, %v, want %v to %v", got, err, ratios[5], ratios[30])
	}
}

// byPermutation is the p-value of the two-sided test by its definition: twice the smaller
// share of all ways to deal the values out, in which the rank sum is as far out.
func byPermutation(old, new []float64) float64 {
	all := slices.Concat(old, new)
	ranks := make([]float64, len(all))
	observed := 0.0
	for i, v := range all {
		for _, other := range all {
			if other < v {
				ranks[i]++
			} else if other == v {
				ranks[i] += 0.5
			}
		}
		if i < len(old) {
			observed += ranks[i]
		}
	}
	below, above, total := 0.0, 0.0, 0.0
	for deal := range 1 << len(all) {
		if bits.OnesCount(uint(deal)) != len(old) {
			continue
		}
		sum := 0.0
		for i, r := range ranks {
			if deal>>i&1 == 1 {
				sum += r
			}
		}
		total++
		if sum <= observed {
			below++
		}
		if sum >= observed {
			above++
		}
	}
	return min(1, 2*min(below, above)/total)
}

func TestPValueAgainstAllPermutations(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	sample := func(top int) []float64 { // ties are common
		values := make([]float64, 1+r.IntN(6))
		for i := range values {
			values[i] = float64(1 + r.IntN(top))
		}
		return values
	}
	for range 200 {
		old, new := sample(5), sample(7)
		got, err := stats.CompareRatio(old, new)
		if want := byPermutation(old, new); err != nil || math.Abs(got.P-want) > 1e-9 {
			t.Errorf("%v and %v: p is %v, %v, want %v", old, new, got.P, err, want)
		}
	}
}

// positive draws a sample in which ties are common.
func positive(t *rapid.T, name string) []float64 {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
		return float64(rapid.IntRange(1, 40).Draw(t, "value")) / 8
	}), 1, 30).Draw(t, name)
}

func TestRatioProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, new := positive(t, "old"), positive(t, "new")
		there, err := stats.CompareRatio(old, new)
		if err != nil {
			t.Fatal(err)
		}
		back, err := stats.CompareRatio(new, old)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(there.Ratio*back.Ratio-1) > 1e-9 || math.Abs(there.Low*back.High-1) > 1e-9 || math.Abs(there.P-back.P) > 1e-9 {
			t.Errorf("the other way round it is not the inverse: %+v and %+v", there, back)
		}
		if there.Low > there.Ratio || there.Ratio > there.High {
			t.Errorf("the ratio is not in its interval: %+v", there)
		}
		if there.P < 0 || there.P > 1 {
			t.Errorf("p is %v", there.P)
		}
		scaled := make([]float64, len(new))
		for i, v := range new {
			scaled[i] = 4 * v
		}
		if r, err := stats.CompareRatio(old, scaled); err != nil || math.Abs(r.Ratio/there.Ratio-4) > 1e-9 {
			t.Errorf("four times the values give %v times the ratio (%v)", r.Ratio/there.Ratio, err)
		}
		slowest := slices.Max(new) / slices.Min(old)
		if fastest := slices.Min(new) / slices.Max(old); there.Low < fastest*(1-1e-9) || there.High > slowest*(1+1e-9) {
			t.Errorf("%+v is outside all ratios, %v to %v", there, fastest, slowest)
		}
	})
}

// The intervals hold what they promise: the true value is in about 95% of them,
// and in no fewer (their levels are the next that the number of values allows).
func TestCoverage(t *testing.T) {
	const repeats = 2000
	r := rand.New(rand.NewPCG(1, 2))
	sample := func(n int, center float64) []float64 {
		var values []float64
		for range n {
			values = append(values, center*math.Exp(0.05*r.NormFloat64()))
		}
		return values
	}
	for _, c := range []struct {
		n        int
		low, top float64 // share of the intervals
	}{{6, 0.94, 0.99}, {9, 0.94, 0.99}, {25, 0.94, 0.975}} {
		medians, ratios := 0, 0
		for range repeats {
			old, new := sample(c.n, 3), sample(c.n, 3.3)
			i, err := stats.MedianInterval(old)
			if err != nil {
				t.Fatal(err)
			}
			if i.Low <= 3 && 3 <= i.High {
				medians++
			}
			ratio, err := stats.CompareRatio(old, new)
			if err != nil {
				t.Fatal(err)
			}
			if ratio.Contains(1.1) {
				ratios++
			}
		}
		for name, hits := range map[string]int{"median": medians, "ratio": ratios} {
			if share := float64(hits) / repeats; share < c.low || share > c.top {
				t.Errorf("%d values: %.1f%% of the intervals of the %s hold it, want %.1f%% to %.1f%%", c.n, 100*share, name, 100*c.low, 100*c.top)
			}
		}
	}
}

// Two samples of one distribution are told apart in at most 5% of the cases.
func TestFalseAlarms(t *testing.T) {
	const repeats = 4000
	r := rand.New(rand.NewPCG(3, 4))
	alarms := 0
	for range repeats {
		var old, new []float64
		for range 6 {
			old, new = append(old, math.Exp(0.05*r.NormFloat64())), append(new, math.Exp(0.05*r.NormFloat64()))
		}
		ratio, err := stats.CompareRatio(old, new)
		if err != nil {
			t.Fatal(err)
		}
		if ratio.P < 0.05 {
			alarms++
		}
	}
	if share := float64(alarms) / repeats; share > 0.055 || share < 0.025 {
		t.Errorf("%.1f%% of the equal pairs have p < 0.05, want about 4%%", 100*share)
	}
}

// Step times of a long run: many values, within reason in time and memory.
func TestCompareRatioOfLongSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var old, new []float64
	for range 20000 {
		old, new = append(old, math.Exp(0.1*r.NormFloat64())), append(new, 1.01*math.Exp(0.1*r.NormFloat64()))
	}
	got, err := stats.CompareRatio(old, new)
	if err != nil || !got.Contains(1.01) || got.High-got.Low > 0.006 || got.P > 1e-6 {
		t.Errorf("got %+v, %v", got, err)
	}
}
