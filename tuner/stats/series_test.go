package stats_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autotune/tuner/stats"
)

// noisy gives n values around 1 with a spread of 3%.
func noisy(n int, random *rand.Rand) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Exp(0.03 * random.NormFloat64())
	}
	return values
}

func TestWarmUp(t *testing.T) {
	steady := []float64{10, 11, 10, 11, 10, 11, 10, 11, 10, 11, 10, 11}
	for _, c := range []struct {
		name   string
		values []float64
		want   int
	}{
		{"too few to tell", []float64{90, 80, 1, 1, 1, 1, 1, 1, 1}, 0},
		{"steady from the start", steady, 0},
		{"two slow steps", append([]float64{90, 30}, steady...), 2},
		{"fast ones at first", append([]float64{2, 4, 6}, steady...), 3},
		{"one disturbed step at the end changes nothing", append(slices.Clone(steady), 40), 0},
		{"never more than half", []float64{20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 1, 1}, 6},
		{"all the same", []float64{3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, 0},
	} {
		before := slices.Clone(c.values)
		if got, err := stats.WarmUp(c.values); err != nil || got != c.want {
			t.Errorf("%s: got %d, %v, want %d", c.name, got, err, c.want)
		}
		if !slices.Equal(before, c.values) {
			t.Errorf("%s: the values were changed", c.name)
		}
	}
}

// A slow beginning that decays moves the median of all values more than that of the values
// which are left.
func TestWarmUpTakesTheBiasAway(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all, left float64
	const series = 200
	for range series {
		values := noisy(50, random)
		for i := range values {
			values[i] *= 1 + 2*math.Exp(-float64(i)/3)
		}
		from, err := stats.WarmUp(values)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := stats.Median(values)
		after, _ := stats.Median(values[from:])
		all, left = all+before-1, left+after-1
	}
	if all/series < 0.01 || left/series > 0.004 {
		t.Errorf("the median is off by %.4f with the warm-up and by %.4f without", all/series, left/series)
	}
}

// The rule looks at differences alone: neither unit nor level matters.
func TestWarmUpKnowsNoUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Map(rapid.IntRange(1, 1000), func(i int) float64 { return float64(i) }), 1, 60).Draw(t, "values")
		scale := rapid.SampledFrom([]float64{0.25, 2, 1024}).Draw(t, "scale")
		scaled := slices.Clone(values)
		for i := range scaled {
			scaled[i] *= scale
		}
		a, err := stats.WarmUp(values)
		b, err2 := stats.WarmUp(scaled)
		if err != nil || err2 != nil || a != b || a > len(values)/2 {
			t.Fatalf("%d of %d values, scaled %d (%v, %v)", a, len(values), b, err, err2)
		}
	})
}

func TestSeriesTrend(t *testing.T) {
	line := func(n int, slope float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = 5 + slope*float64(i)
		}
		return values
	}
	outlier := line(30, 2)
	outlier[3], outlier[20] = 900, -900
	steps := make([]float64, 40) // memory that grows once and stays
	for i := range steps {
		steps[i] = map[bool]float64{true: 100, false: 101}[i < 2]
	}
	for _, c := range []struct {
		name         string
		values       []float64
		slope        float64
		rises, falls bool
	}{
		{"a line", line(20, 3), 3, true, false},
		{"a falling line", line(20, -0.5), -0.5, false, true},
		{"a line of many values", line(4000, 2), 2, true, false},
		{"outliers", outlier, 2, true, false},
		{"constant", line(50, 0), 0, false, false},
		{"one step at the beginning", steps, 0, false, false},
		{"too few for an interval", line(3, 1), 1, false, false},
	} {
		got, err := stats.SeriesTrend(c.values)
		if err != nil || math.Abs(got.Slope-c.slope) > 1e-9 || got.Rises() != c.rises || got.Falls() != c.falls || got.Low > got.Slope || got.Slope > got.High {
			t.Errorf("%s: got %+v, %v, want %v, rises %v, falls %v", c.name, got, err, c.slope, c.rises, c.falls)
		}
	}
}

// The interval holds the true slope in about 95% of many series.
func TestSeriesTrendInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const series, slope = 1000, 0.001
	holds := 0
	for range series {
		values := noisy(25, random)
		for i := range values {
			values[i] += slope * float64(i)
		}
		got, err := stats.SeriesTrend(values)
		if err != nil {
			t.Fatal(err)
		}
		if got.Low <= slope && slope <= got.High {
			holds++
		}
	}
	if holds < 930 || holds > 975 {
		t.Errorf("the interval holds the slope in %d of %d series", holds, series)
	}
}

func TestBadSeries(t *testing.T) {
	if _, err := stats.SeriesTrend([]float64{1}); !errors.Is(err, stats.ErrNoValues) {
		t.Errorf("one value has no trend: %v", err)
	}
	for _, values := range [][]float64{nil, {1, math.NaN()}, {math.Inf(1), 2}} {
		if _, err := stats.SeriesTrend(values); err == nil {
			t.Errorf("a trend of %v", values)
		}
		if _, err := stats.WarmUp(values); err == nil {
			t.Errorf("a warm-up of %v", values)
		}
	}
}
