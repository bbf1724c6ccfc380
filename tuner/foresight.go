package tuner

import (
	"math"
	"sort"
)

// foresight is a forecast of memory, corrected by the peaks that were measured: what a
// prediction leaves out (workspaces, an allocator's rounding) shows in them.
type foresight struct {
	forecast Forecast
	room     float64       // that there is, in bytes
	points   []memoryPoint // measured peaks, rising in size
}

// peak is the forecast of a size with its correction, in bytes. With one point it is
// wrong by the same part everywhere, with more by what is linear through the last two.
func (f foresight) peak(size int) float64 {
	predicted := f.forecast.Peak(size)
	n := len(f.points)
	switch {
	case n == 0:
		return predicted
	case n == 1:
		return predicted * float64(f.points[0].peak) / f.forecast.Peak(f.points[0].size)
	}
	a, b := f.points[n-2], f.points[n-1]
	missingA, missingB := f.missing(a), f.missing(b)
	return predicted + missingB + (missingB-missingA)*float64(size-b.size)/float64(b.size-a.size)
}

// missing is by how much a measured peak is above the forecast, in bytes.
func (f foresight) missing(p memoryPoint) float64 { return float64(p.peak) - f.forecast.Peak(p.size) }

// fits says whether a size is foreseen to fit.
func (f foresight) fits(size int) bool { return f.peak(size) <= f.room }

// border gives the index of the largest size that is foreseen to fit; -1: none is.
func (f foresight) border(sizes []int) int {
	return lastIndex(sizes, f.fits)
}

// careful is border where all that one point leaves open is against a size: what the
// forecast lacks may grow with the size, and what it has too much may not.
func (f foresight) careful(sizes []int) int {
	if len(f.points) != 1 {
		return f.border(sizes)
	}
	p := f.points[0]
	return lastIndex(sizes, func(size int) bool {
		missing := f.missing(p)
		if missing > 0 {
			missing *= float64(size) / float64(p.size)
		}
		return f.forecast.Peak(size)+missing <= f.room
	})
}

// lastIndex gives the index of the largest size that fits; -1: none does.
func lastIndex(sizes []int, fits func(size int) bool) int {
	return sort.Search(len(sizes), func(i int) bool { return !fits(sizes[i]) }) - 1
}

// A border that was foreseen and is wrong is looked for missPart of a size further, then
// missGrowth times that: a first miss is mostly one of rounding. A border that is more
// than mostMisses away, 2.5% of the size, is found sooner from the measured peaks alone
// (docs/search.md).
const (
	missPart   = 0.005
	missGrowth = 4
	mostMisses = 2
)

// missed gives the number of sizes by which to go on from a size after so many misses.
func missed(size, misses int) int {
	return max(1, int(missPart*math.Pow(missGrowth, float64(misses-1))*float64(size)))
}

// foreseen gives the index that the forecast tells to try; false: there is none, or it
// was wrong too often. The first one is a firstTimes-th of the border that is foreseen,
// which tells how good the forecast is at little cost.
func (b borderSearch) foreseen(low, high int) (int, bool) {
	if b.foresight == nil || b.weary() {
		return 0, false
	}
	f := *b.foresight
	f.points = b.points(min(high, len(b.sizes)-1))
	border := f.border(b.sizes)
	above, below := b.contradictions(border)
	switch {
	case above+below > mostMisses:
		return 0, false
	case low < 0:
		return b.index(b.sizes[max(0, min(border, high))] / firstTimes), true
	case border >= high:
		back := b.index(b.sizes[high] - missed(b.sizes[high], above))
		return max(back, (low+high)/2), true
	case border > low:
		return b.untilBorder(f, low, border), true
	case below == 0:
		return low + 1, true
	}
	on := b.index(b.sizes[low] + missed(b.sizes[low], below))
	if high < len(b.sizes) {
		on = min(on, (low+high)/2)
	}
	return on, true
}

// untilBorder gives the index of the border that is foreseen. Where the one point so far leaves
// open which size that is, half of it comes first: that costs half as much as a size near the
// border that turns out not to be it, and two points far apart tell what the forecast lacks.
func (b borderSearch) untilBorder(f foresight, low, border int) int {
	if half := b.index(b.sizes[border] / 2); f.careful(b.sizes) < border && half > low {
		return half
	}
	return border
}

// contradictions counts the sizes that did not fit up to the border that is foreseen,
// and those that ran above it.
func (b borderSearch) contradictions(border int) (above, below int) {
	for _, s := range b.ledger.sizes {
		i := b.index(s.batch)
		switch {
		case s.failTrial > 0 && i <= border:
			above++
		case s.fits() && i > border:
			below++
		}
	}
	return above, below
}
