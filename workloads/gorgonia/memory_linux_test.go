package gorgonia_test

import (
	"testing"

	"autotune/harness/protocol"
)

// The peak holds what the trial needs at least, and a trial gives it all back: what
// six trials leave is less than the 27 MB of weights and gradients of one.
func TestMemoryIsMeasuredAndGivenBack(t *testing.T) {
	trial := ask(func(t *protocol.Trial) { t.Options = map[string]string{"width": "1500"}; t.WarmupSteps = 0 })
	const needed = 2 * 4 * (784*1500 + 1500*1500)
	var first int64
	for i := range 6 {
		_, done := train(t, trial)
		baseline, peak := done.Memory.Baseline[protocol.Resident], done.Memory.Peak[protocol.Resident]
		if peak-baseline < needed {
			t.Errorf("trial %d: the peak of %d is less than %d above the baseline of %d", i, peak, needed, baseline)
		}
		if i == 1 {
			first = baseline // code that the first trial ran has been loaded by now
		}
		if i > 1 && baseline-first > needed {
			t.Errorf("trial %d: the baseline went from %d to %d", i, first, baseline)
		}
	}
}
