package tuner

import "slices"

// maxGrid is the most sizes that are each a candidate; from longer lists candidates are picked.
const maxGrid = 64

// candidateSizes gives the sizes that a recommendation may have, rising: all of a
// short list, and of a long one the even sizes, two an octave, and the largest of
// each evenness up to the largest that fits (0: not known).
func (s Space) candidateSizes(largest int) []int {
	allowed := s.recommendable()
	if largest > 0 {
		i, found := slices.BinarySearch(allowed, largest)
		if found {
			i++
		}
		allowed = allowed[:i]
	}
	if len(allowed) <= maxGrid {
		return allowed
	}
	var picked []int
	pick := func(size int) {
		if i, found := slices.BinarySearch(allowed, size); found {
			picked = append(picked, allowed[i])
		}
	}
	top := allowed[len(allowed)-1]
	pick(top)
	for multiple := 1; multiple <= top; multiple *= 2 {
		pick(multiple)
		pick(3 * multiple / 2)
		pick(top / multiple * multiple)
	}
	slices.Sort(picked)
	return slices.Compact(picked)
}

// candidates gives the configurations that may be recommended as far as is known:
// they were not seen to fail, and nothing says that they do not fit.
func (t *Tuner) candidates() []Config {
	h := t.digest()
	var found []Config
	for _, set := range t.space.Sets {
		if !t.usable(set) {
			continue
		}
		for _, size := range t.space.candidateSizes(t.largestKnown(set)) {
			if !h.batches.allows(size) {
				continue
			}
			for _, steps := range t.space.steps(size) {
				c := Config{Precision: set.Precision, Knobs: set.Knobs, MicroBatch: size, Accumulation: steps}
				if h.mayFit(c) && !h.failed(c) {
					found = append(found, c)
				}
			}
		}
	}
	return found
}

// largestKnown gives the largest size of a set that leaves the headroom, in any
// class whose search has ended; 0: none has.
func (t *Tuner) largestKnown(set Set) int {
	largest := 0
	for _, class := range []int{1, 2} {
		search := t.safeSearch(set, class)
		if _, more := search.next(); more || len(search.ledger.sizes) == 0 {
			continue
		}
		if s, ok := search.ledger.largest(); ok {
			largest = max(largest, s.batch)
		}
	}
	return largest
}

// mayFit says whether a configuration can still be thought to fit and to leave the headroom.
func (h *history) mayFit(c Config) bool {
	for k := class(c.Accumulation); k >= 1; k-- { // more steps need as much memory or more
		if l := h.leaves(c.Set(), k); l.failing > 0 && c.MicroBatch >= l.failing {
			return false
		}
	}
	return !h.overflows(c)
}

// certain is the part of the limit above which a prediction of the memory is
// taken as sure not to fit.
const certain = 1.1

// overflows says whether the memory model of the set is sure that a configuration
// that was not tried does not leave the headroom.
func (h *history) overflows(c Config) bool {
	limit := certain * float64(h.safeLimit())
	own := h.leaves(c.Set(), class(c.Accumulation))
	if s, ok := own.largest(); limit == 0 || ok && c.MicroBatch <= s.batch {
		return false
	}
	if fit, ok := h.memory(own); ok {
		least, _ := fit.peak(c.MicroBatch)
		return least > limit
	}
	other, ok := h.memory(h.leaves(c.Set(), 3-class(c.Accumulation)))
	return ok && other.slope()*float64(c.MicroBatch) > limit
}

// memory fits the sizes of a ledger that ran; false: no peak is known.
func (h *history) memory(l *ledger) (memoryFit, bool) {
	var points []memoryPoint
	for _, s := range l.sizes {
		if s.fits() && s.peak > 0 {
			points = append(points, memoryPoint{s.batch, s.peak})
		}
	}
	if len(points) == 0 {
		return memoryFit{}, false
	}
	return fitMemory(points), true
}
