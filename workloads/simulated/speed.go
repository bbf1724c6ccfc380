package simulated

import (
	"math"

	"autotune/tuner"
)

// speed says how long things take, at fp32.
type speed struct {
	launch    float64 // seconds that a pass takes beside its samples
	sample    float64 // seconds a sample
	tooth8    float64 // part of a sample's time that goes with the size rounded up to a multiple of 8
	tooth32   float64 // the same, of 32
	optimizer float64 // seconds that the optimizer takes a step
}

// drawSpeed draws a speed that fits the memory: a sample that holds more takes
// longer (20 µs to 3 ms a megabyte, a fast card to two cores), and the optimizer
// reads and writes the fixed part at 10 to 1000 GB/s.
func drawSpeed(r draw, m memory) speed {
	s := speed{
		sample:    m.slope / 1e6 * r.logUniform(20e-6, 3e-3),
		tooth8:    r.uniform(0, 0.25),
		tooth32:   r.uniform(0, 0.25),
		optimizer: m.fixed / r.logUniform(10e9, 1000e9),
	}
	s.launch = s.sample * r.logUniform(0.5, 128)
	return s
}

// passSeconds is the time of one forward and backward pass over size samples.
func (s speed) passSeconds(size int, factor float64) float64 {
	even := (1 - s.tooth8 - s.tooth32) * float64(size)
	work := even + s.tooth8*roundUp(size, 8) + s.tooth32*roundUp(size, 32)
	return s.launch + s.sample*work/factor
}

func roundUp(size, to int) float64 { return math.Ceil(float64(size)/float64(to)) * float64(to) }

// StepSeconds is the time of one optimizer step, in seconds, without noise,
// whether or not the configuration fits. It is NaN for a precision that is not one of Precisions.
func (d *Device) StepSeconds(c tuner.Config) float64 {
	s, ok := d.scales[c.Precision]
	if !ok {
		return math.NaN()
	}
	return float64(c.Accumulation)*d.speed.passSeconds(c.MicroBatch, s.speed) + d.speed.optimizer
}

// Throughput is that of whole optimizer steps, in samples/s, without noise,
// whether or not the configuration fits. It is NaN for a precision that is not one of Precisions.
func (d *Device) Throughput(c tuner.Config) float64 {
	return float64(c.Samples()) / d.StepSeconds(c)
}
