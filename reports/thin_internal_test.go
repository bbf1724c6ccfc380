package reports

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autotune/tuner"
)

func TestThinned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := make([]int, rapid.IntRange(1, 1000).Draw(t, "length"))
		for i := range list {
			list[i] = i
		}
		most := rapid.IntRange(2, 300).Draw(t, "most")
		got := thinned(list, most)
		if len(got) != min(most, len(list)) || got[0] != 0 || got[len(got)-1] != len(list)-1 || len(slices.Compact(slices.Clone(got))) != len(got) {
			t.Fatalf("%d of %d: %v", most, len(list), got)
		}
	})
}

// Of many trials, each size that is drawn is drawn once, with the median of its peaks.
func TestTrialsToDraw(t *testing.T) {
	var list []result
	for size := 1; size <= 150; size++ {
		for _, seen := range []int64{30, 10, 20} {
			list = append(list, result{Trial: tuner.Trial{Number: len(list) + 1, Config: tuner.Config{Precision: "fp32", MicroBatch: size, Accumulation: 1}, Status: tuner.OK}, Seen: seen})
		}
	}
	drawn, note := trialsToDraw(list)
	if len(drawn) != 150 || note == "" {
		t.Fatalf("%d drawn: %s", len(drawn), note)
	}
	for i, r := range drawn {
		if r.MicroBatch != i+1 || r.Seen != 20 {
			t.Errorf("%d: micro-batch %d with %d", i, r.MicroBatch, r.Seen)
		}
	}
	if few, note := trialsToDraw(list[:400]); len(few) != 400 || note != "" {
		t.Errorf("of 400, %d are drawn: %s", len(few), note)
	}
}
