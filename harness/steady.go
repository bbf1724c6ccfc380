package harness

import (
	"fmt"
	"math"

	"autotune/tuner"
	"autotune/tuner/stats"
)

const (
	// driftLong is the least number of steps in which a drift is looked for, driftWide the part of the
	// median step by which they must differ from the first to the last to be worth a warning: what
	// check takes for a change.
	driftLong = 10
	driftWide = 0.05
	// GrowthHorizon is the number of optimizer steps that memory which grows must leave room
	// for: many more than a soak has, and about one epoch of ImageNet at a batch of 1024.
	GrowthHorizon = 1000
	// growthLooks is the least number of looks at what is held in which growth is looked for, and
	// growthLeast the part of the peak by which it must grow in a soak: less is what an allocator moves.
	growthLooks = 10
	growthLeast = 0.005
)

// steadySteps are the timed steps of a trial that come after its warm-up, in seconds: beside
// the warm-up steps that were asked for, those are left out that stats.WarmUp finds.
func steadySteps(t TrialRecord) []float64 {
	from, err := stats.WarmUp(t.StepSeconds)
	if err != nil { // there are none, or one is no number
		return t.StepSeconds
	}
	return t.StepSeconds[from:]
}

// drift says in a sentence that a trial's steps go on getting slower or faster; empty: they do not.
func drift(steps []float64) string {
	if len(steps) < driftLong {
		return ""
	}
	trend, err := stats.SeriesTrend(steps)
	median, failed := stats.Median(steps)
	if err != nil || failed != nil || median <= 0 || !trend.Rises() && !trend.Falls() {
		return ""
	}
	part := trend.Slope * float64(len(steps)-1) / median
	if math.Abs(part) < driftWide {
		return ""
	}
	how := "slower"
	if part < 0 {
		how = "faster"
	}
	return fmt.Sprintf("its steps never became steady: from the first timed one to the last they are %.0f%% %s", 100*math.Abs(part), how)
}

// growth is by how much what a soak of a peak in bytes holds grows, in bytes a step, with its
// interval; false: it does not, as far as its looks at the memory tell.
func growth(t TrialRecord, peak int64) (stats.Trend, bool) {
	if t.Purpose != tuner.Soak {
		return stats.Trend{}, false
	}
	held := make([]float64, len(t.Held))
	for i, h := range t.Held {
		held[i] = float64(h.Bytes)
	}
	from, err := stats.WarmUp(held)
	if err != nil || len(held)-from < growthLooks {
		return stats.Trend{}, false
	}
	trend, err := stats.SeriesTrend(held[from:])
	last := len(held) - 1
	steps := float64(t.Held[last].Step - t.Held[from].Step)
	if err != nil || !trend.Rises() || steps <= 0 || trend.Low*float64(last-from) < growthLeast*max(float64(peak), held[last]) {
		return stats.Trend{}, false
	}
	per := float64(last-from) / steps // looks a step
	return stats.Trend{Slope: trend.Slope * per, Low: trend.Low * per, High: trend.High * per}, true
}

// observe adds to a trial what its steps and its memory show beside their figures.
func observe(trial *tuner.Trial, t TrialRecord) {
	if trial.Status != tuner.OK {
		return
	}
	if text := drift(trial.StepSeconds); text != "" {
		trial.Warnings = append(trial.Warnings, text)
	}
	if g, grows := growth(t, trial.PeakBytes); grows {
		trial.GrowthBytes = int64(g.Low * GrowthHorizon)
		trial.Warnings = append(trial.Warnings, fmt.Sprintf("what it holds in memory grew by %s a step (95%% interval %s to %s): %s in %d steps",
			FormatBytes(int64(g.Slope)), FormatBytes(int64(g.Low)), FormatBytes(int64(g.High)), FormatBytes(int64(g.Slope*GrowthHorizon)), GrowthHorizon))
	}
}
