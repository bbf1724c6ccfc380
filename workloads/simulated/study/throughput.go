package study

import (
	"autotune/harness"
	"autotune/tuner"
	"autotune/workloads/simulated"
)

// Speed is what the search for throughput came to on a device.
type Speed struct {
	Seed   uint64
	Best   tuner.Config // of brute force
	Chosen tuner.Config // by the search; the empty configuration: none
	// Share is the throughput of the choice as a part of the best, both without
	// noise; 0 where there was no choice or it does not fit.
	Share    float64
	Trials   int // all but the soak
	Failures int
	Seconds  float64 // simulated, without the soak
}

// targetError is how precisely finalists are measured: as by default.
const targetError = harness.DefaultTargetError

// Fastest lets the tuner look for the most throughput on every device, at fp32 over
// 1 to 65,536 with accumulation 1, or, where a global batch above 0 is given, over its
// divisors with the accumulation that makes it.
func Fastest(seeds Seeds, o simulated.Options, globalBatch int) ([]Speed, error) {
	space := tuner.Space{Sets: []tuner.Set{{Precision: "fp32"}}, Sizes: sizesTo(simulated.MaxBorder), Accumulations: []int{1}}
	if globalBatch > 0 {
		space.Sizes, space.Accumulations, space.GlobalBatch = sizesTo(globalBatch), nil, globalBatch
	}
	var speeds []Speed
	err := seeds.each(o, func(d *simulated.Device) error {
		out, err := Search(d, space, tuner.Goal{Objective: "throughput", LimitBytes: d.Limit(), TargetError: targetError})
		if err != nil {
			return err
		}
		best := bruteForce(d, globalBatch)
		s := Speed{
			Seed: d.Seed(), Best: best, Chosen: out.Recommendation.Config,
			Trials: len(out.Trials), Failures: out.Failures(), Seconds: out.FitSeconds + out.TimeSeconds,
		}
		s.Trials -= out.Count(func(t tuner.Trial) bool { return t.Purpose == tuner.Soak })
		if s.Chosen.MicroBatch > 0 && d.Peak(s.Chosen) <= d.Limit() {
			s.Share = d.Throughput(s.Chosen) / d.Throughput(best)
		}
		speeds = append(speeds, s)
		return nil
	})
	return speeds, err
}

// bruteForce gives the configuration with the most throughput of all that fit.
func bruteForce(d *simulated.Device, globalBatch int) tuner.Config {
	var best tuner.Config
	fastest := 0.0
	try := func(size, accumulation int) {
		c := tuner.Config{Precision: "fp32", MicroBatch: size, Accumulation: accumulation}
		if t := d.Throughput(c); t > fastest && d.Peak(c) <= d.Limit() {
			best, fastest = c, t
		}
	}
	if globalBatch == 0 {
		for size := range d.Border("fp32", 1) {
			try(size+1, 1)
		}
		return best
	}
	for size := 1; size <= globalBatch; size++ {
		if globalBatch%size == 0 {
			try(size, globalBatch/size)
		}
	}
	return best
}
