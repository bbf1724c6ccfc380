package reports

import (
	"cmp"
	"fmt"
	"slices"

	"autotune/tuner"
)

const (
	// maxDrawn is the most points of one series in a figure: more cannot be told apart.
	maxDrawn = 200
	// maxPageRows is the most rows of a table of the page; a browser sorts so many at once.
	maxPageRows = 500
)

// thinned gives so many values of a list at most, at even distances, the first and the last among them.
func thinned[T any](list []T, most int) []T {
	if len(list) <= most {
		return list
	}
	left := make([]T, most)
	for i := range left {
		left[i] = list[i*(len(list)-1)/(most-1)]
	}
	return left
}

// trialsToDraw gives trials for a figure against the micro-batch, and a sentence on what is left out of many: of each
// size of a set with the same end the one of the median peak, and of many sizes some at even distances.
func trialsToDraw(list []result) ([]result, string) {
	if len(list) <= 2*maxDrawn {
		return list, ""
	}
	type series struct {
		memoryGroup
		tuner.Status
	}
	groups := map[series]map[int][]result{}
	for _, r := range list {
		s := series{memoryGroup{r.Set(), r.Accumulation > 1}, r.Status}
		if groups[s] == nil {
			groups[s] = map[int][]result{}
		}
		groups[s][r.MicroBatch] = append(groups[s][r.MicroBatch], r)
	}
	var drawn []result
	for _, sizes := range groups {
		var one []result
		for _, same := range sizes {
			slices.SortFunc(same, func(a, b result) int { return cmp.Or(cmp.Compare(a.Seen, b.Seen), a.Number-b.Number) })
			one = append(one, same[len(same)/2])
		}
		slices.SortFunc(one, func(a, b result) int { return a.MicroBatch - b.MicroBatch })
		drawn = append(drawn, thinned(one, maxDrawn)...)
	}
	slices.SortFunc(drawn, func(a, b result) int { return a.Number - b.Number })
	return drawn, fmt.Sprintf(" Of %d trials %d are drawn: of each size the one of the median peak, and of many sizes some.", len(list), len(drawn))
}

// cut is the digest with so many of its trials at most, those of most interest, in the order run. Its configurations stay.
func (d *digest) cut(most int) *digest {
	if len(d.results) <= most {
		return d
	}
	c := *d
	c.results = d.byInterest(most)
	slices.SortFunc(c.results, func(a, b result) int { return a.Number - b.Number })
	return &c
}

// configsOfInterest gives so many configurations at most: all in their order, or of more those that ran first.
func (d *digest) configsOfInterest(most int) []configuration {
	if len(d.configs) <= most {
		return d.configs
	}
	list := slices.Clone(d.configs)
	slices.SortStableFunc(list, func(a, b configuration) int { return last(!a.ran()) - last(!b.ran()) })
	return list[:most]
}

// cutText says how many of all are shown, and where the others are; empty: all are.
func cutText(shown, all int) string {
	if shown == all {
		return ""
	}
	return fmt.Sprintf("%d of %d; the others are in trials.csv", shown, all)
}
