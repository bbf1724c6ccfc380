package tuner_test

import (
	"math/rand/v2"

	"autotune/tuner"
)

// device is a machine with simple arithmetic, for cases that a test writes by hand.
type device struct {
	limit   int64
	fixed   int64 // bytes
	sample  int64 // bytes a sample
	grads   int64 // bytes that accumulation adds
	launch  float64
	seconds float64 // per sample
	noise   float64 // relative spread of step times, uniform
	tells   bool    // the peak of a trial past the limit is known
	// fails gives the status of trials that go wrong; empty: they do not.
	fails func(number int, r tuner.Request) tuner.Status
	// slower is how many times longer the steps of a configuration take; nil: not.
	slower func(c tuner.Config) float64
}

// plain needs 100 bytes and 10 a sample, and takes 10 ms and 1 ms a sample.
func plain(border int) *device {
	return &device{limit: 100 + 10*int64(border) + 5, fixed: 100, sample: 10, launch: 0.01, seconds: 0.001}
}

func (d *device) peak(c tuner.Config) int64 {
	peak := d.fixed + d.sample*int64(c.MicroBatch)
	if c.Accumulation > 1 {
		peak += d.grads
	}
	return peak
}

// step is the time of an optimizer step without noise, in seconds.
func (d *device) step(c tuner.Config) float64 {
	step := float64(c.Accumulation) * (d.launch + d.seconds*float64(c.MicroBatch))
	if d.slower != nil {
		step *= d.slower(c)
	}
	return step
}

func (d *device) run(number int, r tuner.Request) tuner.Trial {
	t := tuner.Trial{Number: number, Config: r.Config, Purpose: r.Purpose, Status: tuner.OK, PeakBytes: d.peak(r.Config)}
	if d.fails != nil {
		if status := d.fails(number, r); status != "" {
			t.Status, t.PeakBytes, t.WallSeconds = status, 0, 1
			return t
		}
	}
	if t.PeakBytes > d.limit {
		t.Status = tuner.OOM
		if !d.tells {
			t.PeakBytes, t.WallSeconds = 0, 1
			return t
		}
	}
	random := rand.New(rand.NewPCG(uint64(number), uint64(r.MicroBatch)))
	sum := 0.0
	for len(t.StepSeconds) < r.Steps || sum < r.Seconds {
		s := d.step(r.Config) * (1 + d.noise*(2*random.Float64()-1))
		t.StepSeconds = append(t.StepSeconds, s)
		sum += s
	}
	t.WallSeconds = sum + float64(r.WarmupSteps)*d.step(r.Config)
	return t
}

// fp32 is a configuration of that precision.
func fp32(size, accumulation int) tuner.Config {
	return tuner.Config{Precision: "fp32", MicroBatch: size, Accumulation: accumulation}
}
