package simulated

import (
	"math"
	"math/rand/v2"
)

// Streams of random numbers that one seed gives.
const (
	streamDevice uint64 = 1 + iota
	streamTrial
	streamSize
)

// draw is a source of the distributions that a device is made of.
type draw struct{ *rand.Rand }

// newDraw gives the stream of the seed and the words, always the same for the same arguments.
func newDraw(seed, stream uint64, words ...uint64) draw {
	h := mix(seed ^ mix(stream))
	for _, w := range words {
		h = mix(h ^ mix(w))
	}
	return draw{rand.New(rand.NewPCG(h, mix(h)))}
}

// mix is one step of SplitMix64 (Steele, Lea and Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014): it spreads every bit of x.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// word turns a text into a number for newDraw: FNV-1a.
func word(text string) uint64 {
	h := uint64(0xcbf29ce484222325)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 0x100000001b3
	}
	return h
}

// uniform is uniform in low..high.
func (d draw) uniform(low, high float64) float64 { return low + (high-low)*d.Float64() }

// logUniform has a logarithm that is uniform between those of low and high, both positive.
func (d draw) logUniform(low, high float64) float64 {
	return math.Exp(d.uniform(math.Log(low), math.Log(high)))
}

// around is 1 with relative noise of the standard deviation sigma: a log-normal factor.
func (d draw) around(sigma float64) float64 { return math.Exp(sigma * d.NormFloat64()) }
