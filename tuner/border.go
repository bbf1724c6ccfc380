package tuner

import (
	"math/bits"
	"sort"
)

// borderSearch looks for the largest size that fits, among the sizes allowed,
// with as few trials as it can.
type borderSearch struct {
	sizes  []int // allowed, rising
	ledger *ledger
	limit  int64 // bytes; 0: not known
}

// bracket gives the indices between which the border lies: low fits (-1: none
// is known to), high does not (len(sizes): none is known not to).
//
// A size that failed for another reason than memory is a hole: it is neither.
// Two neighbours of that kind are a wall, and bound the search as a size that
// does not fit would.
func (b borderSearch) bracket() (low, high int) {
	low, high = -1, len(b.sizes)
	if s, ok := b.ledger.largest(); ok {
		low = b.index(s.batch)
	}
	if b.ledger.failing > 0 {
		high = b.index(b.ledger.failing)
	}
	for i := low + 1; i+1 < high; i++ {
		next, ok := b.nextTried(i)
		if !ok {
			break
		}
		i = next
		if b.hole(i) && i+1 < high && b.hole(i+1) {
			return low, i
		}
	}
	return low, high
}

// nextTried gives the first index from i on whose size was tried.
func (b borderSearch) nextTried(i int) (int, bool) {
	at, _ := b.ledger.find(b.sizes[i])
	if at == len(b.ledger.sizes) {
		return 0, false
	}
	return b.index(b.ledger.sizes[at].batch), true
}

// index gives the index of the first allowed size that is size or more.
func (b borderSearch) index(size int) int { return sort.SearchInts(b.sizes, size) }

func (b borderSearch) hole(i int) bool {
	s, ok := b.ledger.lookup(b.sizes[i])
	return ok && s.blocked()
}

func (b borderSearch) tried(i int) bool {
	_, ok := b.ledger.lookup(b.sizes[i])
	return ok
}

// next gives the size to try next; false: there is nothing more to learn.
func (b borderSearch) next() (int, bool) {
	low, high := b.bracket()
	if high-low <= 1 {
		return 0, false
	}
	if i, ok := b.besideHole(low, high); ok {
		return b.sizes[i], true
	}
	i, ok := b.untried(b.target(low, high), low, high)
	if !ok {
		return 0, false
	}
	return b.sizes[i], true
}

// besideHole gives the index above a hole, which tells a hole from a wall.
func (b borderSearch) besideHole(low, high int) (int, bool) {
	for _, s := range b.ledger.sizes {
		if i := b.index(s.batch); s.blocked() && i > low && i+1 < high && !b.tried(i+1) {
			return i + 1, true
		}
	}
	return 0, false
}

// untried gives the index nearest to i, strictly between low and high, that was not tried.
func (b borderSearch) untried(i, low, high int) (int, bool) {
	for d := 0; i-d > low || i+d < high; d++ {
		if j := i - d; j > low && j < high && !b.tried(j) {
			return j, true
		}
		if j := i + d; j > low && j < high && !b.tried(j) {
			return j, true
		}
	}
	return 0, false
}

// target gives the index that promises the most, strictly between low and high.
func (b borderSearch) target(low, high int) int {
	if low < 0 && high == len(b.sizes) {
		return min(b.index(8*b.sizes[0]), high-1)
	}
	i := b.guess(low, high)
	return min(max(i, low+1), high-1)
}

// guess is target without the bounds.
func (b borderSearch) guess(low, high int) int {
	fit, share, known := b.fit(low, high)
	switch {
	case high < len(b.sizes) && (!known || b.weary()):
		return (low + high) / 2
	case !known || b.weary():
		return b.grow(low)
	}
	least, most := fit.border(b.limit)
	lowest := float64(b.sizes[low])
	switch {
	case most < lowest+1:
		return b.beyond(low)
	case high == len(b.sizes) && least > lowest*nearby:
		return max(b.index(int(least*cautious)), low+1)
	case b.floor(most)-low > 4 && b.floor(most)+b.creep(low) < high && b.creep(low) > 0:
		return b.floor(most) + b.creep(low)
	}
	return b.likely(fit, share, low, high)
}

// creep is the way, in sizes, that the last three trials came, where all of them
// fitted and each came closer to the one before: then the border may well be beyond what
// the model allows. Else it is 0.
func (b borderSearch) creep(low int) int {
	points := b.points(low)
	n := len(points)
	if n < 4 {
		return 0
	}
	gap := func(i int) int { return points[i].size - points[i-1].size }
	if gap(n-1) > gap(n-2) || gap(n-2) > gap(n-3) {
		return 0
	}
	return max(1, low-b.index(points[n-3].size))
}

// While no size failed, a border that is predicted nearby times as far as the largest
// size that ran, or further, is approached in two trials. The first is at a cautious
// part of it: steps of memory may lie in between.
const (
	nearby   = 3.0
	cautious = 0.95
)

// leastPatience is the least number of trials that the model has.
const leastPatience = 6

// stepDoubt is how likely the memory between the largest size that fits and the next
// trial has a step, which no line foresees.
const oneStep = 0.95

const stepDoubt = 0.1

// likely gives the index of the largest size that is as likely to fit as not. The lines
// have the weight that the failed size left them; the rest says that a step lies in
// between, at any size.
func (b borderSearch) likely(fit memoryFit, share float64, low, high int) int {
	lines := (1 - stepDoubt) * share
	doubt := stepDoubt
	if high == len(b.sizes) {
		doubt = 0
	}
	start := low
	if high < len(b.sizes) {
		start = max(low, b.index(int(oneStep*float64(b.sizes[high]))))
	}
	fits := func(i int) float64 {
		step := min(1, float64(high-i)/float64(high-start))
		return (lines*fit.fits(b.sizes[i], b.limit) + doubt*step) / (lines + doubt)
	}
	return low + sort.Search(high-low-1, func(i int) bool { return fits(low+1+i) < 0.5 })
}

// floor gives the index of the largest allowed size that is size or less.
func (b borderSearch) floor(size float64) int {
	if size >= float64(b.sizes[len(b.sizes)-1]) {
		return len(b.sizes) - 1
	}
	return b.index(int(size)+1) - 1
}

// grow gives the index of twice the size that fits.
func (b borderSearch) grow(low int) int { return b.index(2 * b.sizes[low]) }

// beyond gives the index of a size beyond one that fits although the model says
// that it should be the last: the next one, or twice the way of the last trial where
// that one had been beyond the model as well.
func (b borderSearch) beyond(low int) int {
	points := b.points(low)
	if len(points) < 2 {
		return low + 1
	}
	before := points[len(points)-2].size
	if _, most := fitMemory(points[:len(points)-1]).border(b.limit); most >= float64(b.sizes[low]) {
		return low + 1
	}
	return low + 2*(low-b.index(before))
}

// weary says that the model had as many trials as a bisection of all sizes needs, but
// two, and did not find the border: a bisection finds it in as many again.
func (b borderSearch) weary() bool {
	return len(b.ledger.sizes) >= max(leastPatience, bits.Len(uint(len(b.sizes)-1))-2)
}

// fit fits the memory of the sizes up to the border, and gives the part of the lines
// that foresaw the failure of the smallest size that did not fit (1 where none
// failed); false: too little is known.
func (b borderSearch) fit(low, high int) (fit memoryFit, share float64, ok bool) {
	points := b.points(min(high, len(b.sizes)-1))
	if b.limit == 0 || low < 0 || len(points) == 0 {
		return memoryFit{}, 0, false
	}
	fit, share = fitMemory(points), 1
	if failing := b.ledger.failing; failing > 0 {
		share = fit.above(failing, fit.room(b.limit))
	}
	return fit, share, true
}

// points gives the measured peaks up to an index.
func (b borderSearch) points(last int) []memoryPoint {
	var points []memoryPoint
	for _, s := range b.ledger.sizes {
		if s.peak > 0 && s.batch <= b.sizes[last] {
			points = append(points, memoryPoint{s.batch, s.peak})
		}
	}
	return points
}
