package tuner

import (
	"cmp"
	"slices"
)

// class is the number of accumulation steps that a memory peak goes with: 1, or
// 2 for two and more. The gradients are kept between passes from two steps on,
// and a third step adds nothing to them.
func class(accumulation int) int { return min(accumulation, 2) }

// ledgerKey names one border: sizes are comparable inside it.
type ledgerKey struct {
	Set
	class int
}

// ledger holds what is known of the sizes of one set and class: which ran,
// which did not fit, and which failed for another reason.
type ledger struct {
	sizes []size // rising, tried ones only
	// failing is the smallest size that did not fit; 0: none.
	failing int
}

// size is what trials of one size showed.
type size struct {
	batch     int
	peak      int64 // highest seen where it was measured to the end, bytes; 0: not known
	ranTrial  int   // the first that ran; 0: none
	failTrial int   // the first that did not fit; 0: none
	hole      Status
	holes     int // trials that failed for another reason than memory
}

// fits says whether the size ran, and never failed for want of memory.
func (s size) fits() bool { return s.ranTrial > 0 && s.failTrial == 0 }

// blocked says whether the size failed for another reason than memory and never ran.
func (s size) blocked() bool { return s.hole != "" && s.ranTrial == 0 && s.failTrial == 0 }

// at gives the entry of a size, made where it was not tried before.
func (l *ledger) at(batch int) *size {
	i, found := l.find(batch)
	if !found {
		l.sizes = slices.Insert(l.sizes, i, size{batch: batch})
	}
	return &l.sizes[i]
}

// find gives the index of a size, or the index that it would have.
func (l *ledger) find(batch int) (int, bool) {
	return slices.BinarySearchFunc(l.sizes, batch, func(s size, b int) int { return cmp.Compare(s.batch, b) })
}

// lookup gives what is known of a size.
func (l *ledger) lookup(batch int) (size, bool) {
	i, found := l.find(batch)
	if !found {
		return size{}, false
	}
	return l.sizes[i], true
}

// add takes in a trial; status is what it means for the size.
func (l *ledger) add(t Trial, status Status) {
	s := l.at(t.MicroBatch)
	switch status {
	case OK, Diverged:
		if s.ranTrial == 0 {
			s.ranTrial = t.Number
		}
		s.peak = max(s.peak, t.PeakBytes)
	case OOM:
		if s.failTrial == 0 {
			s.failTrial = t.Number
		}
		if len(t.StepSeconds) > 0 { // it ran past the limit, so that the peak is that of a whole step
			s.peak = max(s.peak, t.PeakBytes)
		}
		if l.failing == 0 || t.MicroBatch < l.failing {
			l.failing = t.MicroBatch
		}
	default:
		s.hole = status
		s.holes++
	}
}

// largest gives the largest size that fits, below every size that did not; false: none.
func (l *ledger) largest() (size, bool) {
	for _, s := range slices.Backward(l.sizes) {
		if s.fits() && (l.failing == 0 || s.batch < l.failing) {
			return s, true
		}
	}
	return size{}, false
}
