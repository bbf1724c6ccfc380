package rivals

import (
	"math"

	"autotune/workloads/simulated"
)

// The defaults of Lightning's BatchSizeFinder 2.6.6
// (src/lightning/pytorch/tuner/batch_size_scaling.py).
const (
	LightningMargin  = 0.05 // taken off what binsearch found
	LightningLargest = 8192 // max_val: a size that is not tried but taken
	lightningFirst   = 2    // init_val
	lightningTrials  = 25   // max_trials
)

// NoLargest lifts Lightning's largest size.
const NoLargest = math.MaxInt

// LightningPower is its mode "power": doubles the size until it does not fit, and
// takes the half. The search ends at largest, which is taken without being tried.
func LightningPower(d *simulated.Device, largest int) Result {
	r := run{device: d}
	r.Size = lightningFirst
	fitted := false
	for range lightningTrials {
		if r.Size >= largest {
			break
		}
		if r.fits(r.Size) {
			r.Size, fitted = min(2*r.Size, largest), true
			continue
		}
		r.Size /= 2
		if fitted {
			break
		}
	}
	return r.Result
}

// LightningBinsearch is its mode "binsearch": doubles the size until it does not
// fit, then bisects, then takes off the margin, a part from 0 to 1. The search ends
// at largest, which is taken without being tried, or after 25 sizes that fit.
func LightningBinsearch(d *simulated.Device, margin float64, largest int) Result {
	r := run{device: d}
	r.Size = lightningFirst
	low, high := 1, 0
	for fitted := 0; r.Size < largest; {
		size := r.Size
		if r.fits(size) {
			fitted++
			if fitted >= lightningTrials {
				break
			}
			low = size
			r.Size = min(2*size, largest)
		} else {
			high = size
		}
		if high > 0 {
			r.Size = (low + high) / 2
			if high-low <= 1 {
				break
			}
		}
	}
	if margin > 0 {
		r.Size = max(1, int(float64(r.Size)*(1-margin)))
	}
	return r.Result
}
