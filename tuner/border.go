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
	// foresight is a forecast of the sizes' memory, not corrected; nil: there is none.
	foresight *foresight
}

// bracket gives the indices between which the border lies: low fits (-1: none
// is known to), high does not (len(sizes): none is known not to).
//
// A size that failed for another reason than memory is a hole: it is neither.
// Two neighbours of that kind are a wall, and bound the search as a size that
// does not fit would.
func (b borderSearch) bracket() (low, high int) {
	low, high, _ = b.walled()
	return low, high
}

// walled is bracket, and says whether high is a wall.
func (b borderSearch) walled() (low, high int, wall bool) {
	low, high = -1, len(b.sizes)
	if s, ok := b.ledger.largest(); ok {
		low = b.index(s.batch)
	}
	if b.ledger.failing > 0 {
		high = b.index(b.ledger.failing)
	}
	for _, s := range b.ledger.sizes {
		if i := b.index(s.batch); i > low && i+1 < high && b.hole(i) && b.hole(i+1) {
			return low, i, true
		}
	}
	return low, high, false
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
	low, high, wall := b.walled()
	if high-low <= 1 {
		return 0, false
	}
	if i, ok := b.besideHole(low, high); ok {
		return b.sizes[i], true
	}
	target := (low + high) / 2 // memory does not tell where a wall begins
	if !wall {
		target = b.target(low, high)
	}
	i, ok := b.untried(target, low, high)
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

// firstTimes is how many times the smallest size the first one to be tried is, and how
// many times it fits into a border that is foreseen: large enough to tell what a sample
// needs, and small enough to fit as a rule.
const firstTimes = 8

// target gives the index that promises the most, strictly between low and high.
func (b borderSearch) target(low, high int) int {
	i, ok := b.foreseen(low, high)
	switch {
	case ok:
	case low < 0 && high == len(b.sizes):
		i = b.index(firstTimes * b.sizes[0])
	default:
		i = b.guess(low, high)
	}
	return min(max(i, low+1), high-1)
}

// While no size failed, a border that is predicted nearby times as far as the largest
// size that ran, or further, is approached in two trials. The first is at a cautious
// part of it: steps of memory may lie in between.
const (
	nearby   = 3.0
	cautious = 0.95
)

// guess is target without the bounds.
func (b borderSearch) guess(low, high int) int {
	bounded := high < len(b.sizes)
	fit, foreseen, known := b.fit(low, high)
	switch {
	case bounded && (!known || b.weary()):
		return (low + high) / 2
	case !known || b.weary():
		return b.grow(low)
	}
	if least, _ := fit.border(b.limit); !bounded && least > nearby*float64(b.sizes[low]) {
		return b.index(int(cautious * least))
	}
	return b.likely(fit, foreseen, low, high)
}

// A step of memory that no line foresees lies between the largest size that fits and
// the smallest that does not with a likelihood of stepDoubt. The border is then within
// the last stepRange of the way to the latter, as likely at one size as at another.
const (
	stepDoubt = 0.1
	stepRange = 0.05
)

// likely gives the index of the largest size that is as likely to fit as not. Beside
// the doubt, the lines have the weight of that part of them which foresaw the failure.
func (b borderSearch) likely(fit memoryFit, foreseen float64, low, high int) int {
	lines, doubt, start := (1-stepDoubt)*foreseen, 0.0, low
	if high < len(b.sizes) {
		doubt = stepDoubt
		start = max(low, b.index(int((1-stepRange)*float64(b.sizes[high]))))
	}
	fits := func(i int) float64 {
		beforeStep := min(1, float64(high-i)/float64(high-start))
		return (lines*fit.fits(b.sizes[i], b.limit) + doubt*beforeStep) / (lines + doubt)
	}
	return low + sort.Search(high-low-1, func(i int) bool { return fits(low+1+i) < 0.5 })
}

// grow gives the index of twice the size that fits.
func (b borderSearch) grow(low int) int { return b.index(2 * b.sizes[low]) }

// leastPatience is the least number of trials that the model may use up.
const leastPatience = 6

// weary says that the model used up its trials, a few less than a bisection of all
// sizes needs, and did not find the border: now a bisection finds it in as many again.
func (b borderSearch) weary() bool {
	return len(b.ledger.sizes) >= max(leastPatience, bits.Len(uint(len(b.sizes)-1))-4)
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
