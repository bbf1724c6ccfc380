package tuner

import "slices"

// history is what the trials observed so far showed.
type history struct {
	goal   Goal
	trials []Trial // interrupted ones left out, collapsed ones as OOM
	// collapsed are the trials that went on past the memory that there is.
	collapsed []Trial
	// fitting holds what fits into the limit, and safe what leaves the headroom as
	// well, which is what may be recommended.
	fitting, safe map[ledgerKey]*ledger
	speed         *speedModel // of the trials; nil: to be fitted
	// margin is what a recommendation must leave of the limit, in bytes.
	margin  int64
	batches batchSizes
}

// digest makes the history of the trials.
func digest(trials []Trial, goal Goal) *history {
	h := &history{goal: goal, fitting: map[ledgerKey]*ledger{}, safe: map[ledgerKey]*ledger{}}
	for _, t := range trials {
		if t.Status != Interrupted {
			t.StepSeconds = soundSeconds(t.StepSeconds)
			h.trials = append(h.trials, t)
		}
	}
	for _, i := range h.findCollapsed() {
		h.collapsed = append(h.collapsed, h.trials[i])
		h.trials[i].Status = OOM
	}
	h.margin, h.batches = h.findMargin(), h.findBatches()
	for _, t := range h.trials {
		h.add(t)
	}
	return h
}

// ledgerIn gives the ledger of a set and class, made where there is none.
func ledgerIn(ledgers map[ledgerKey]*ledger, key ledgerKey) *ledger {
	if ledgers[key] == nil {
		ledgers[key] = &ledger{}
	}
	return ledgers[key]
}

// fits gives the ledger of the sizes of a set and class that fit.
func (h *history) fits(set Set, class int) *ledger {
	return ledgerIn(h.fitting, ledgerKey{set, class})
}

// leaves gives the ledger of the sizes that fit and leave the headroom.
func (h *history) leaves(set Set, class int) *ledger {
	return ledgerIn(h.safe, ledgerKey{set, class})
}

// safeLimit is the most that a recommendation's peak may be, in bytes; 0: no limit.
func (h *history) safeLimit() int64 {
	if h.goal.LimitBytes == 0 {
		return 0
	}
	return max(1, h.goal.LimitBytes-h.margin)
}

// add enters one trial into the ledgers. A set that is unsupported is left; where it ran
// before, it is a size that is unsupported, which is a hole.
func (h *history) add(t Trial) {
	if h.unsupported(t.Set()) && t.Status == Unsupported {
		return
	}
	h.fits(t.Set(), class(t.Accumulation)).add(t, t.Status)
	if (t.Status == OK || t.Status == Diverged) && h.safeLimit() > 0 && t.PeakBytes > h.safeLimit() {
		t.Status = OOM
	}
	h.leaves(t.Set(), class(t.Accumulation)).add(t, t.Status)
}

// A run that does not fit can go on many times slower, its memory spilled to the
// host. It is told by samples per second that are below a collapsedTimes-th of a
// smaller size's, while the peak is not known or is nearFull of the limit: the
// throughput of a sound run grows with the size, or falls a little.
const (
	collapsedTimes = 3
	nearFull       = 0.9
)

// findCollapsed gives the indices of the trials that went on past the memory that there is.
func (h *history) findCollapsed() []int {
	var found []int
	for i, t := range h.trials {
		rate := sampleRate(t)
		belowLimit := t.PeakBytes > 0 && float64(t.PeakBytes) < nearFull*float64(h.goal.LimitBytes)
		if t.Status != OK || rate == 0 || belowLimit {
			continue
		}
		if slices.ContainsFunc(h.trials, func(other Trial) bool {
			smaller := other.Status == OK && other.Set() == t.Set() && other.MicroBatch < t.MicroBatch
			return smaller && sampleRate(other) > collapsedTimes*rate
		}) {
			found = append(found, i)
		}
	}
	return found
}

// ran gives the trials of a configuration that ran.
func (h *history) ran(c Config) []Trial {
	var trials []Trial
	for _, t := range h.trials {
		if t.Config == c && t.Status == OK {
			trials = append(trials, t)
		}
	}
	return trials
}

// failed says whether a trial of the configuration did not run as it should.
func (h *history) failed(c Config) bool {
	return slices.ContainsFunc(h.trials, func(t Trial) bool { return t.Config == c && t.Status != OK })
}

// batchSizes are the least and the most samples that a batch can have; 0: not bounded.
type batchSizes struct{ least, most int }

// allows says whether a batch may have that many samples.
func (b batchSizes) allows(size int) bool { return size >= b.least && (b.most == 0 || size <= b.most) }

// findBatches gives what batches can have, where they came with other numbers than were asked for. Data that are
// too few bound them from above, a loader that has its own number from below as well. A size that ran is
// within the bounds, whatever came elsewhere.
func (h *history) findBatches() batchSizes {
	var b batchSizes
	smallest, largest := 0, 0 // that ran
	for _, t := range h.trials {
		switch {
		case t.Status == OK:
			largest = max(largest, t.MicroBatch)
			if smallest == 0 || t.MicroBatch < smallest {
				smallest = t.MicroBatch
			}
		case t.Status != Invalid || t.Came == 0:
		case t.Came > t.MicroBatch:
			b.least = max(b.least, t.Came)
		case b.most == 0 || t.Came < b.most:
			b.most = t.Came
		}
	}
	if b.most > 0 {
		b.most = max(b.most, largest)
	}
	if smallest > 0 {
		b.least = min(b.least, smallest)
	}
	return b
}

// alike gives the sizes, as tried, of a set all of whose trials failed for one cause that is not
// memory: nil where one ran, where causes differ or are not known, and before two configurations failed.
func (h *history) alike(set Set) []int {
	var cause string
	var configs []Config
	var sizes []int
	for _, t := range h.trials {
		switch {
		case t.Set() != set || t.Status == OOM:
			continue
		case t.Status == OK || t.Cause == "" || cause != "" && t.Cause != cause:
			return nil
		}
		cause = t.Cause
		if !slices.Contains(configs, t.Config) {
			configs, sizes = append(configs, t.Config), append(sizes, t.MicroBatch)
		}
	}
	if len(configs) < 2 {
		return nil
	}
	return sizes
}

// hopeless is the number of trials that fail for other reasons than memory, while none
// ends well, after which a set is given up.
const hopeless = 10

// usable says whether the set can run, as far as is known: it is supported, and its
// trials do not all fail for another reason than memory.
func (h *history) usable(set Set) bool {
	if h.unsupported(set) {
		return false
	}
	failures := 0
	for _, t := range h.trials {
		switch {
		case t.Set() != set:
		case t.Status == OK:
			return true
		case t.Status != OOM:
			failures++
		}
	}
	return failures < hopeless
}

// unsupported says whether a trial of the set ended as unsupported before one ran.
func (h *history) unsupported(set Set) bool {
	i := slices.IndexFunc(h.trials, func(t Trial) bool {
		return t.Set() == set && (t.Status == OK || t.Status == Unsupported)
	})
	return i >= 0 && h.trials[i].Status == Unsupported
}
