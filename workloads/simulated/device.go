package simulated

import "autotune/tuner"

// Device is a simulated device with one workload on it. Its methods do not
// change it and may be called from several goroutines.
type Device struct {
	seed    uint64
	options Options
	memory  memory
	speed   speed
	scales  map[string]scale // by precision
	limit   int64
	start   float64
}

// Precisions are the number formats that every simulated device has.
var Precisions = []string{"fp64", "fp32", "bf16", "fp16"}

// The range that the border at fp32 and accumulation 1 is drawn from,
// log-uniform: between MinBorder and MaxBorder.
const (
	MinBorder = 2
	MaxBorder = 65536
)

// scale is what a precision changes, as factors on fp32.
type scale struct{ fixed, slope, speed float64 }

// NewDevice draws the device of the seed. At fp32 and accumulation 1:
//
//   - memory: a fixed part, log-uniform from 30 MB to 5 GB; a slope a sample; 0 to 6
//     workspaces, each of at most 10% of the slope's part at the size from which it
//     is held; the sum rounded up to blocks of 512 B, 2 MiB or 20 MiB. The slope
//     follows from the border and from what the samples hold together at the
//     border, log-uniform from 256 MB to 80 GB;
//   - the device's memory (Limit) lies between the peaks of the border and the next
//     size, and the border is log-uniform from MinBorder to MaxBorder. Where the
//     next size has the same peak, being in the same block, the border is the last
//     size of the block below;
//   - a pass takes a fixed time and a time a sample. Part of the latter is taken by
//     the sizes rounded up to multiples of 8 and of 32, which gives a sawtooth. An
//     optimizer step adds the time of the optimizer.
//
// The other precisions scale memory and speed, and two or more accumulation
// steps need more memory than one, or the same. The options add failures; they
// change nothing of what the exact queries answer.
func NewDevice(seed uint64, o Options) (*Device, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	r := newDraw(seed, streamDevice)
	border := int(r.logUniform(MinBorder, MaxBorder))
	d := &Device{seed: seed, options: o, memory: drawMemory(r, border)}
	d.speed = drawSpeed(r, d.memory)
	d.scales = drawScales(r)
	d.limit = d.drawLimit(r, border)
	d.start = r.logUniform(0.1, 8)
	return d, nil
}

// drawLimit gives a device's memory, in bytes, at which the border is the given one or the
// last size with a smaller peak.
func (d *Device) drawLimit(r draw, border int) int64 {
	at := func(size int) int64 {
		return d.Peak(tuner.Config{Precision: "fp32", MicroBatch: size, Accumulation: 1})
	}
	low, high := at(border), at(border+1)
	if low == high {
		low -= d.memory.block
	}
	return low + r.Int64N(high-low)
}

func drawScales(r draw) map[string]scale {
	half := scale{fixed: r.uniform(0.9, 1.2), slope: r.uniform(0.5, 0.65), speed: r.logUniform(1.03, 4)}
	other := half
	other.speed *= r.uniform(0.95, 1.05)
	return map[string]scale{
		"fp64": {fixed: 2, slope: 2, speed: r.uniform(0.25, 0.6)},
		"fp32": {fixed: 1, slope: 1, speed: 1},
		"bf16": half,
		"fp16": other,
	}
}

// Seed is the seed that the device was drawn from.
func (d *Device) Seed() uint64 { return d.seed }

// Limit is the device's memory in bytes: a configuration whose peak is larger fails.
func (d *Device) Limit() int64 { return d.limit }

// StartSeconds is the time that a fresh worker takes to start, in seconds.
func (d *Device) StartSeconds() float64 { return d.start }
