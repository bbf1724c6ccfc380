package tuner

import "math"

// maxBlock is the largest unit in which an allocator is taken to round, in bytes.
// PyTorch's CUDA allocator rounds to 512 B, 2 MiB and 20 MiB
// (c10/cuda/CUDACachingAllocator.cpp: kMinBlockSize, kSmallBuffer, kLargeBuffer).
const maxBlock = 32 << 20

// memoryPoint is the measured peak of one size, in bytes.
type memoryPoint struct {
	size int
	peak int64
}

// memoryFit is what the measured peaks say of the peaks between and beyond them.
//
// Memory is taken as
//
//	peak(b) = fixed + slope b + steps(b), rounded up to whole blocks
//
// where steps never fall. The block is the greatest common divisor of the
// peaks. Every point then bounds the straight line through the largest sizes: it
// lies between peak - block and peak there, and nowhere below peak - block. The
// lines that obey all bounds are a convex polygon over (level at the largest
// point, slope). Points are taken from the largest down, and the first that no
// line can obey ends it: a step lies above it.
type memoryFit struct {
	origin int // the size where level is measured
	block  float64
	lines  polygon
}

// fitMemory fits the points, which rise in size. There must be one or more.
func fitMemory(points []memoryPoint) memoryFit {
	top := points[len(points)-1]
	fit := memoryFit{origin: top.size, block: float64(commonBlock(points))}
	peak := float64(top.peak)
	low := math.Max(0, peak-fit.block)
	steepest := peak / float64(top.size) // no less than nothing is fixed
	fit.lines = polygon{{low, 0}, {peak, 0}, {peak, steepest}, {low, steepest}}
	for i := len(points) - 2; i >= 0; i-- {
		p := points[i]
		below := float64(p.size - top.size)
		floor, ceiling := float64(p.peak)-fit.block, float64(p.peak)
		// level + slope below >= floor
		raised := fit.lines.clip(1, below, floor)
		if len(raised) == 0 { // more than a larger size needed: noise
			continue
		}
		fit.lines = raised
		// level + slope below <= ceiling
		if straight := raised.clip(-1, -below, -ceiling); len(straight) > 0 {
			fit.lines = straight
		}
	}
	return fit
}

// above keeps the lines that lie above the bytes at a size that did not fit, and
// gives the part of them that is left. Where none is, a step lies in between and all stay.
func (f *memoryFit) above(size int, bytes float64) float64 {
	kept := f.lines.clip(1, float64(size-f.origin), bytes)
	if len(kept) == 0 {
		return 0
	}
	share := kept.share(f.lines)
	f.lines = kept
	return share
}

// fits gives the part of the lines that let a size fit into the limit.
func (f memoryFit) fits(size int, limit int64) float64 {
	return f.lines.clip(-1, -float64(size-f.origin), -f.room(limit)).share(f.lines)
}

// room is the limit in whole blocks, in bytes.
func (f memoryFit) room(limit int64) float64 { return math.Floor(float64(limit)/f.block) * f.block }

// border gives the least and the most of the largest size that the lines let fit
// into the limit, in samples; the most is +Inf where a line does not rise.
func (f memoryFit) border(limit int64) (least, most float64) {
	room := f.room(limit)
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range f.lines {
		border := math.Inf(1)
		if v.slope > 0 {
			border = float64(f.origin) + (room-v.level)/v.slope
		}
		least, most = math.Min(least, border), math.Max(most, border)
	}
	return math.Max(0, least), most
}

// peak gives the least and the most bytes that the lines say of a size.
func (f memoryFit) peak(size int) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, v := range f.lines {
		bytes := v.level + v.slope*float64(size-f.origin)
		least, most = math.Min(least, bytes), math.Max(most, bytes)
	}
	return least, most + f.block
}

// commonBlock is the greatest common divisor of the peaks, at most maxBlock.
func commonBlock(points []memoryPoint) int64 {
	var block int64
	for _, p := range points {
		a, b := block, p.peak
		for b != 0 {
			a, b = b, a%b
		}
		block = a
	}
	return min(max(block, 1), maxBlock)
}

// line is a straight line of memory: bytes at the origin, and bytes a sample.
type line struct{ level, slope float64 }

// polygon is a convex set of lines, by its corners in order; empty: no line.
type polygon []line

// clip keeps the part where a*level + b*slope >= c (Sutherland and Hodgman,
// "Reentrant polygon clipping", CACM 17, 1974).
func (p polygon) clip(a, b, c float64) polygon {
	excess := func(l line) float64 { return a*l.level + b*l.slope - c }
	var kept polygon
	for i, corner := range p {
		next := p[(i+1)%len(p)]
		e, n := excess(corner), excess(next)
		if e >= 0 {
			kept = append(kept, corner)
		}
		if (e > 0 && n < 0) || (e < 0 && n > 0) {
			t := e / (e - n)
			kept = append(kept, line{corner.level + t*(next.level-corner.level), corner.slope + t*(next.slope-corner.slope)})
		}
	}
	return kept
}

// slope is the least that the lines say of the bytes a sample.
func (f memoryFit) slope() float64 {
	least := math.Inf(1)
	for _, v := range f.lines {
		least = math.Min(least, v.slope)
	}
	return least
}

// share gives the area as a part of that of another polygon, which it lies in. Where
// that is no more than a point or a stretch of lines, all of it is left or nothing.
func (p polygon) share(whole polygon) float64 {
	area := whole.area()
	if area == 0 {
		return float64(min(1, len(p)))
	}
	return p.area() / area
}

// area is that of the polygon, in bytes times bytes a sample.
func (p polygon) area() float64 {
	twice := 0.0
	for i := 2; i < len(p); i++ {
		a, b, c := p[0], p[i-1], p[i]
		twice += (b.level-a.level)*(c.slope-a.slope) - (c.level-a.level)*(b.slope-a.slope)
	}
	return math.Abs(twice) / 2
}
