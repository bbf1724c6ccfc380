package simulated

import (
	"fmt"

	"autotune/harness/protocol"
	"autotune/tuner"
)

// stepNoise is the relative standard deviation of the time of a step.
const stepNoise = 0.02

// attempt is one trial on a device: what will happen in it, drawn when it begins.
type attempt struct {
	noise   draw
	seconds float64 // of a step, without noise
	peak    int64   // bytes, of this trial
	failure *protocol.Error
	until   float64 // part of the first step after which the failure comes
}

// begin draws what happens in the trial of the number. The same device, trial and
// configuration give the same attempt in every process.
func (d *Device) begin(number int, c tuner.Config) (attempt, error) {
	if err := checkConfig(c); err != nil {
		return attempt{}, err
	}
	words := []uint64{word(c.Precision), uint64(c.MicroBatch), uint64(c.Accumulation), word(c.Knobs)}
	a := attempt{
		noise:   newDraw(d.seed, streamTrial, append(words, uint64(number))...),
		seconds: d.StepSeconds(c),
	}
	spread := a.noise.uniform(-d.options.Fuzzy, d.options.Fuzzy)
	a.peak = int64(float64(d.Peak(c)) * (1 + spread))
	failed := a.noise.Float64() < d.options.Failures
	hole := newDraw(d.seed, streamSize, words[:2]...).Float64() < d.options.Holes
	switch {
	case a.peak > d.limit:
		// The forward pass, a third of a pass (Kaplan et al. 2020, "Scaling laws for
		// neural language models", section 2.1), takes memory evenly until it runs out.
		a.until = float64(d.limit) / float64(a.peak) / 3 / float64(c.Accumulation)
		a.failure = d.outOfMemory(a.peak)
	case failed || hole:
		a.until = a.noise.Float64()
		a.failure = otherFailure()
	}
	return a, nil
}

// step is the time of the next optimizer step, in seconds.
func (a attempt) step() float64 { return a.seconds * a.noise.around(stepNoise) }

func checkConfig(c tuner.Config) error {
	switch {
	case c.MicroBatch < 1:
		return fmt.Errorf("simulated device: micro-batch %d: want 1 or more", c.MicroBatch)
	case c.Accumulation < 1:
		return fmt.Errorf("simulated device: %d accumulation steps: want 1 or more", c.Accumulation)
	}
	for _, p := range Precisions {
		if c.Precision == p {
			return nil
		}
	}
	return fmt.Errorf("simulated device: precision %q: it has %v", c.Precision, Precisions)
}
