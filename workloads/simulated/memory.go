package simulated

import (
	"math"
	"slices"
	"sort"

	"autotune/tuner"
)

// blocks are the units in which allocators take memory, in bytes: 512 B and
// 2 MiB are the small and the large block of PyTorch's CUDA allocator, 20 MiB is
// what it asks the driver for at once (c10/cuda/CUDACachingAllocator.cpp:
// kMinBlockSize, kSmallBuffer and kLargeBuffer).
var blocks = []int64{512, 2 << 20, 20 << 20}

// memory says how the peak depends on the size, at fp32.
type memory struct {
	fixed      float64 // bytes
	slope      float64 // bytes a sample
	workspaces []workspace
	gradients  float64 // bytes that two or more accumulation steps add
	block      int64   // bytes that the peak is rounded up to
}

// maxSize is above every device's border.
const maxSize = 1 << 24

// mostPeak is the most that a peak comes to, in bytes: far above every device's
// memory, and with the spread of the option "fuzzy" still an int64.
const mostPeak = 1 << 60

// workspace is memory that is held from a size on.
type workspace struct {
	from  int
	bytes float64
}

func drawMemory(r draw, border int) memory {
	m := memory{
		fixed: r.logUniform(30e6, 5e9),
		slope: r.logUniform(256e6, 80e9) / float64(border),
		block: blocks[r.IntN(len(blocks))],
	}
	for range r.IntN(7) {
		from := int(math.Ceil(r.logUniform(1, 2*float64(border))))
		m.workspaces = append(m.workspaces, workspace{from, r.uniform(0, 0.1) * m.slope * float64(from)})
	}
	slices.SortFunc(m.workspaces, func(a, b workspace) int { return a.from - b.from })
	if r.IntN(2) == 1 {
		m.gradients = m.fixed * r.uniform(0.01, 0.1)
	}
	return m
}

// Peak is the highest memory that a step of the configuration needs, in bytes,
// without noise. It does not decrease with the micro-batch. It is -1 for a
// precision that is not one of Precisions.
func (d *Device) Peak(c tuner.Config) int64 {
	s, ok := d.scales[c.Precision]
	if !ok {
		return -1
	}
	m := d.memory
	bytes := s.fixed*m.fixed + s.slope*m.slope*float64(c.MicroBatch)
	for _, w := range m.workspaces {
		if c.MicroBatch >= w.from {
			bytes += s.slope * w.bytes
		}
	}
	if c.Accumulation >= 2 {
		bytes += s.fixed * m.gradients
	}
	if bytes > mostPeak {
		return mostPeak
	}
	return int64(math.Ceil(bytes/float64(m.block))) * m.block
}

// Forecast is what an engine could say of the device's memory without running it: all
// but the workspaces and the rounding to blocks, times the factor (1: nothing else is wrong).
func (d *Device) Forecast(set tuner.Set, accumulation int, factor float64) tuner.Forecast {
	f := tuner.Forecast{Set: set, Accumulation: accumulation}
	s, ok := d.scales[set.Precision]
	if !ok {
		return f
	}
	line := tuner.ForecastLine{Fixed: factor * s.fixed * d.memory.fixed, PerSample: factor * s.slope * d.memory.slope}
	if accumulation >= 2 {
		line.Fixed += factor * s.fixed * d.memory.gradients
	}
	f.Lines = []tuner.ForecastLine{line}
	return f
}

// Border is the largest micro-batch whose peak is at most Limit, with the given
// precision and accumulation steps; 0: none is, or the precision is not one of Precisions.
func (d *Device) Border(precision string, accumulation int) int {
	if _, ok := d.scales[precision]; !ok {
		return 0
	}
	tooLarge := func(below int) bool {
		return d.Peak(tuner.Config{Precision: precision, MicroBatch: below + 1, Accumulation: accumulation}) > d.limit
	}
	return sort.Search(maxSize, tooLarge)
}
