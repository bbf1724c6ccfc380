package model

import "math"

// Stream is a SplitMix64 stream (Steele, Lea and Flood, "Fast Splittable
// Pseudorandom Number Generators", OOPSLA 2014, with the mixing constants of
// Vigna's splitmix64.c). Its i-th word depends on the seed, the name and i alone,
// so that any language makes the same numbers, one by one or all at once.
type Stream struct{ state uint64 }

// golden is the increment of SplitMix64: 2^64 over the golden ratio, odd.
const golden = 0x9e3779b97f4a7c15

// NewStream is the stream of one name, such as a parameter's, under a seed. Its
// state begins at mix(seed XOR the FNV-1a hash, of 64 bits, of the name's bytes).
func NewStream(seed uint64, name string) *Stream {
	h := uint64(0xcbf29ce484222325)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	return &Stream{mix(seed ^ h)}
}

// Next is the next word: golden is added to the state, and the state is mixed.
func (s *Stream) Next() uint64 {
	s.state += golden
	return mix(s.state)
}

// mix is the output function of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Uniform is in [-1, 1): the word's upper 53 bits, times 2^-52, minus 1. It is exact.
func (s *Stream) Uniform() float64 {
	return float64(s.Next()>>11)*0x1p-52 - 1
}

// normalScale makes the sum of four words of 16 bits, each uniform in 0 to 65535, a
// variable of variance 1: the sum's variance is (2^32 - 1) / 3.
var normalScale = 1 / math.Sqrt((1<<32-1)/3.0)

// Normal is near to a standard normal value: the sum of the word's four parts of 16
// bits, minus 131070, times normalScale (an Irwin-Hall sum of order 4: mean 0,
// variance 1, no value beyond 3.47). Without logarithms and cosines it is the
// same to the last bit everywhere.
func (s *Stream) Normal() float64 {
	w := s.Next()
	sum := w&0xffff + w>>16&0xffff + w>>32&0xffff + w>>48
	return (float64(sum) - 131070) * normalScale
}

// Below is in 0 to n-1: the word's upper 32 bits, times n, divided by 2^32. n is
// 1 to 2^31.
func (s *Stream) Below(n int) int {
	return int((s.Next() >> 32) * uint64(n) >> 32)
}

// Float is a type that values are made in.
type Float interface{ ~float32 | ~float64 }

// Fill makes the first values of a parameter, in row-major order, one word for
// each. They are worked out in 64 bits and rounded to T at the end.
func Fill[T Float](values []T, p Param, seed uint64) {
	s := NewStream(seed, p.Name)
	for i := range values {
		switch p.Init.Kind {
		case Uniform:
			values[i] = T(s.Uniform() * p.Init.Scale)
		case Normal:
			values[i] = T(s.Normal() * p.Init.Scale)
		default:
			values[i] = T(p.Init.Scale)
		}
	}
}
