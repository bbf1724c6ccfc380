// Package rivals holds the strategies by which other tools look for the largest
// micro-batch that fits, as their sources have them, to be run on simulated
// devices beside ours.
//
// All of them work in one process: it starts once, and goes on after it ran out
// of memory. A trial is Steps optimizer steps at fp32 without accumulation; one
// that fails costs the part of a step up to the failure. Accelerate's own trial is
// the whole training run; here its last one, too, is Steps steps.
package rivals

import (
	"autotune/tuner"
	"autotune/workloads/simulated"
)

// Steps is the number of optimizer steps in a trial: Lightning's steps_per_trial.
const Steps = 3

// Result is what a strategy came to.
type Result struct {
	Size     int     // micro-batch that it would train with; 0: it gave up
	Trials   int     // sizes run
	Failures int     // trials that ran out of memory
	Seconds  float64 // simulated, the start of the process included
}

// run is a strategy at work on a device.
type run struct {
	device *simulated.Device
	Result
}

// fits runs a trial of the size and says whether it ran to its end.
func (r *run) fits(size int) bool {
	r.Trials++
	t := r.device.Run(r.Trials, tuner.Request{
		Config:  tuner.Config{Precision: "fp32", MicroBatch: size, Accumulation: 1},
		Purpose: tuner.Fit,
		Steps:   Steps,
	})
	r.Seconds += t.WallSeconds
	if t.Status != tuner.OK {
		r.Failures++
	}
	return t.Status == tuner.OK
}
