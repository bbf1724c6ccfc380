package tuner

// mostGrown is the number of soaks whose memory grew from which on growth asks for no room any
// more: no smaller size escapes it, and the recommendation says so instead.
const mostGrown = 3

// findMargin gives what a recommendation must leave of the limit, in bytes: the headroom or, where
// none was asked for, what peaks of one configuration differ by at most; and room for memory that
// grows.
func (h *history) findMargin() int64 {
	margin := h.goal.HeadroomBytes
	if margin == 0 {
		margin = h.spread()
	}
	grown, soaks := int64(0), 0
	for _, t := range h.trials {
		if t.GrowthBytes > 0 {
			grown = max(grown, t.GrowthBytes)
			soaks++
		}
	}
	if soaks >= mostGrown || !h.anyLeaves(margin+grown) {
		return margin
	}
	return margin + grown
}

// spread is by how many bytes the peaks of one configuration differ at most.
func (h *history) spread() int64 {
	least, most := map[Config]int64{}, map[Config]int64{}
	widest := int64(0)
	for _, t := range h.trials {
		if t.Status != OK || t.PeakBytes == 0 {
			continue
		}
		if least[t.Config] == 0 || t.PeakBytes < least[t.Config] {
			least[t.Config] = t.PeakBytes
		}
		most[t.Config] = max(most[t.Config], t.PeakBytes)
		widest = max(widest, most[t.Config]-least[t.Config])
	}
	return widest
}

// anyLeaves says whether a trial that ran left so many bytes of the limit.
func (h *history) anyLeaves(margin int64) bool {
	for _, t := range h.trials {
		if t.Status == OK && t.PeakBytes > 0 && t.PeakBytes <= h.goal.LimitBytes-margin {
			return true
		}
	}
	return false
}
