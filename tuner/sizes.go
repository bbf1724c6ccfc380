package tuner

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxSizes is the most sizes that one axis may have.
const MaxSizes = 1 << 20

// MaxSize is the largest size: a micro-batch times accumulation steps stays within 64 bits.
const MaxSize = 1 << 30

// ParseSizes reads a micro-batch axis and gives its sizes, rising and each once.
// It is a list, parted by commas, of
//
//	32          one size
//	1..4096     every integer of a range, both ends included
//	8..512:8    every multiple of 8 in a range
//	1..1024:x2  the first of a range times the powers of 2
//
// An error names the part that is wrong and what would be right.
func ParseSizes(text string) ([]int, error) {
	var sizes []int
	for part := range strings.SplitSeq(text, ",") {
		some, err := parsePart(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("sizes %q: %w", text, err)
		}
		sizes = append(sizes, some...)
		if len(sizes) > MaxSizes {
			return nil, fmt.Errorf("sizes %q: more than %d sizes; give a step, such as 1..1000000:x2", text, MaxSizes)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}

// parsePart reads one part of a list: a size or a range.
func parsePart(part string) ([]int, error) {
	if part == "" {
		return nil, fmt.Errorf("empty; give sizes such as 8,16,32 or a range such as 1..4096")
	}
	first, rest, isRange := strings.Cut(part, "..")
	if !isRange {
		size, err := parseSize(part)
		return []int{size}, err
	}
	last, step, stepped := strings.Cut(rest, ":")
	low, err := parseSize(first)
	if err != nil {
		return nil, err
	}
	high, err := parseSize(last)
	if err != nil {
		return nil, err
	}
	if low > high {
		return nil, fmt.Errorf("the range %q falls; write %d..%d", part, high, low)
	}
	switch factor, isFactor := strings.CutPrefix(step, "x"); {
	case !stepped:
		return multiples(low, high, 1)
	case isFactor:
		return powers(low, high, factor)
	default:
		n, err := parseSize(step)
		if err != nil {
			return nil, err
		}
		return multiples(low, high, n)
	}
}

// parseSize reads one integer from 1 to MaxSize.
func parseSize(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a whole number; give sizes such as 8,16,32 or a range such as 1..4096", text)
	case n < 1:
		return 0, fmt.Errorf("%d is below 1, the smallest size", n)
	case n > MaxSize:
		return 0, fmt.Errorf("%d is above %d, the largest size", n, MaxSize)
	}
	return n, nil
}

// multiples gives the multiples of step between low and high.
func multiples(low, high, step int) ([]int, error) {
	first := low
	if rest := low % step; rest != 0 {
		first += step - rest
	}
	if first < low || first > high {
		return nil, fmt.Errorf("no multiple of %d lies between %d and %d", step, low, high)
	}
	count := (high-first)/step + 1
	if count > MaxSizes {
		return nil, fmt.Errorf("more than %d sizes; give a step, such as %d..%d:x2", MaxSizes, low, high)
	}
	sizes := make([]int, count)
	for i := range sizes {
		sizes[i] = first + i*step
	}
	return sizes, nil
}

// powers gives low times the powers of the factor, up to high.
func powers(low, high int, factor string) ([]int, error) {
	n, err := parseSize(factor)
	if err != nil {
		return nil, err
	}
	if n < 2 {
		return nil, fmt.Errorf("a factor of %d never grows; give 2 or more, such as %d..%d:x2", n, low, high)
	}
	var sizes []int
	for size := low; ; size *= n {
		sizes = append(sizes, size)
		if size > high/n {
			return sizes, nil
		}
	}
}
