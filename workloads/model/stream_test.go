package model

import (
	"math"
	"testing"
)

// The words that the reference implementation gives from state 1234567
// (prng.di.unimi.it/splitmix64.c).
func TestStreamIsSplitMix64(t *testing.T) {
	s := Stream{1234567}
	for i, want := range []uint64{
		6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
	} {
		if got := s.Next(); got != want {
			t.Errorf("word %d is %d, want %d", i, got, want)
		}
	}
}

func TestStreamsDiffer(t *testing.T) {
	first := map[uint64]string{}
	for _, s := range []struct {
		seed uint64
		name string
	}{{1, "a"}, {2, "a"}, {1, "b"}, {1, ""}, {1, "ab"}, {1, "ba"}} {
		w := NewStream(s.seed, s.name).Next()
		if other, ok := first[w]; ok {
			t.Errorf("%q begins as %q does", s.name, other)
		}
		first[w] = s.name
	}
}

func TestDistributions(t *testing.T) {
	const n = 200000
	cases := []struct {
		name                      string
		draw                      func(*Stream) float64
		mean, deviation, from, to float64
	}{
		{"uniform", (*Stream).Uniform, 0, 1 / math.Sqrt(3), -1, 1},
		{"normal", (*Stream).Normal, 0, 1, -3.47, 3.47},
		{"below 5", func(s *Stream) float64 { return float64(s.Below(5)) }, 2, math.Sqrt2, 0, 4},
	}
	for _, c := range cases {
		s := NewStream(1, c.name)
		var sum, squares float64
		for range n {
			x := c.draw(s)
			if x < c.from || x > c.to {
				t.Fatalf("%s: %g is outside of %g to %g", c.name, x, c.from, c.to)
			}
			sum += x
			squares += x * x
		}
		mean := sum / n
		deviation := math.Sqrt(squares/n - mean*mean)
		if math.Abs(mean-c.mean) > 0.01 || math.Abs(deviation-c.deviation) > 0.01 {
			t.Errorf("%s: mean %g and deviation %g, want %g and %g", c.name, mean, deviation, c.mean, c.deviation)
		}
	}
}

func TestFillFollowsTheInit(t *testing.T) {
	const n = 1000
	p := func(kind InitKind, scale float64) Param {
		return Param{Name: "w", Shape: []int{n}, Init: Init{kind, scale}}
	}
	constant, uniform, wide := make([]float32, n), make([]float32, n), make([]float64, n)
	Fill(constant, p(Constant, 3), 1)
	Fill(uniform, p(Uniform, 0.25), 1)
	Fill(wide, p(Uniform, 0.25), 1)
	for i := range n {
		if constant[i] != 3 {
			t.Fatalf("constant: %g", constant[i])
		}
		if uniform[i] < -0.25 || uniform[i] > 0.25 || uniform[i] != float32(wide[i]) {
			t.Fatalf("uniform: %g in 32 bits, %g in 64", uniform[i], wide[i])
		}
	}
	// The bits of one value, so that other languages can be held against it.
	normal := make([]float64, 1)
	Fill(normal, Param{Name: "conv1.weight", Shape: []int{1}, Init: Init{Normal, 1}}, 1)
	if got, want := math.Float64bits(normal[0]), uint64(0x3fc8b11e9280c51d); got != want {
		t.Errorf("the first normal value of conv1.weight under seed 1 is %#x (%g), want %#x", got, normal[0], want)
	}
}
