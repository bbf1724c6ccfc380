package simulated_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"autotune/tuner"
	"autotune/workloads/simulated"
)

func device(t testing.TB, seed uint64, o simulated.Options) *simulated.Device {
	t.Helper()
	d, err := simulated.NewDevice(seed, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func config(precision string, size, accumulation int) tuner.Config {
	return tuner.Config{Precision: precision, MicroBatch: size, Accumulation: accumulation}
}

func TestBorderIsWhereThePeakPassesTheLimit(t *testing.T) {
	for seed := range uint64(2000) {
		d := device(t, seed, simulated.Options{})
		b := d.Border("fp32", 1)
		if b < simulated.MinBorder || b > simulated.MaxBorder {
			t.Errorf("seed %d: border %d is outside %d..%d", seed, b, simulated.MinBorder, simulated.MaxBorder)
		}
		if d.Peak(config("fp32", b, 1)) > d.Limit() || d.Peak(config("fp32", b+1, 1)) <= d.Limit() {
			t.Errorf("seed %d: the limit is not between the peaks of %d and the next size", seed, b)
		}
	}
}

// The border is log-uniform, so that the share of the devices below the geometric middle is a half.
func TestBordersAreLogUniform(t *testing.T) {
	const devices = 2000
	for _, share := range []float64{0.25, 0.5, 0.75} {
		edge := math.Exp(math.Log(simulated.MinBorder) + share*math.Log(simulated.MaxBorder/simulated.MinBorder))
		below := 0
		for seed := range uint64(devices) {
			if float64(device(t, seed, simulated.Options{}).Border("fp32", 1)) < edge {
				below++
			}
		}
		if got := float64(below) / devices; math.Abs(got-share) > 0.04 {
			t.Errorf("%.0f%% of the borders are below %.0f, want %.0f%%", 100*got, edge, 100*share)
		}
	}
}

// However large the size is, it does not fit.
func TestPeaksDoNotOverflow(t *testing.T) {
	for seed := range uint64(200) {
		d := device(t, seed, simulated.Options{Fuzzy: 0.5})
		for size := 1 << 20; size > 0; size *= 2 {
			for _, precision := range simulated.Precisions {
				r := tuner.Request{Config: config(precision, size, 1), WarmupSteps: 1, Steps: 1}
				if got := d.Run(1, r); d.Peak(r.Config) <= d.Limit() || got.Status != tuner.OOM {
					t.Fatalf("seed %d: %s with a peak of %d ends as %s", seed, r.Config, d.Peak(r.Config), got.Status)
				}
			}
		}
	}
}

func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d, err := simulated.NewDevice(rapid.Uint64().Draw(t, "seed"), simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		precision := rapid.SampledFrom(simulated.Precisions).Draw(t, "precision")
		size := rapid.IntRange(1, 1<<17).Draw(t, "size")
		larger := size + rapid.IntRange(1, 1000).Draw(t, "more")
		one := d.Peak(config(precision, size, 1))
		if next := d.Peak(config(precision, larger, 1)); next < one {
			t.Errorf("the peak falls from %d at %d to %d at %d", one, size, next, larger)
		}
		if two := d.Peak(config(precision, size, 2)); two < one {
			t.Errorf("two steps need %d bytes, less than one step's %d", two, one)
		}
		if two, four := d.Peak(config(precision, size, 2)), d.Peak(config(precision, size, 4)); two != four {
			t.Errorf("peak %d with two steps, %d with four", two, four)
		}
		if d.Peak(config("fp64", size, 1)) < d.Peak(config("fp32", size, 1)) {
			t.Error("fp64 needs less than fp32")
		}
		if d.Border("fp64", 1) > d.Border("fp32", 1) {
			t.Error("the border of fp64 is above that of fp32")
		}
	})
}

func TestThroughputSaturatesWithASawtooth(t *testing.T) {
	for seed := range uint64(200) {
		d := device(t, seed, simulated.Options{})
		last := 0.0
		for size := 32; size <= 1<<14; size *= 2 {
			now := d.Throughput(config("fp32", size, 1))
			if now < last {
				t.Errorf("seed %d: throughput falls to %v at %d", seed, now, size)
			}
			last = now
		}
		whole, odd := d.StepSeconds(config("fp32", 4096, 1)), d.StepSeconds(config("fp32", 4097, 1))
		if gentle := d.StepSeconds(config("fp32", 4098, 1)); odd-whole <= gentle-odd {
			t.Errorf("seed %d: no tooth between 4096 and 4097", seed)
		}
	}
}

func TestTrialsRepeatAndDifferByNumber(t *testing.T) {
	request := tuner.Request{Config: config("bf16", 1, 2), Purpose: tuner.Fit, WarmupSteps: 1, Steps: 3}
	first := device(t, 7, simulated.Options{Fuzzy: 0.02}).Run(3, request)
	again := device(t, 7, simulated.Options{Fuzzy: 0.02}).Run(3, request)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("the same trial differs in another device of the seed:\n%s", diff)
	}
	other := device(t, 7, simulated.Options{Fuzzy: 0.02}).Run(4, request)
	if first.StepSeconds[0] == other.StepSeconds[0] || first.PeakBytes == other.PeakBytes {
		t.Error("trials 3 and 4 have the same noise")
	}
}

func TestRun(t *testing.T) {
	d := device(t, 1, simulated.Options{})
	b := d.Border("fp32", 1)
	request := func(c tuner.Config) tuner.Request {
		return tuner.Request{Config: c, Purpose: tuner.Fit, WarmupSteps: 1, Steps: 2}
	}
	for _, c := range []struct {
		name   string
		config tuner.Config
		status tuner.Status
		peak   int64
		steps  int
	}{
		{"the border", config("fp32", b, 1), tuner.OK, d.Peak(config("fp32", b, 1)), 2},
		{"above the border", config("fp32", b+1, 1), tuner.OOM, 0, 0},
		{"no such precision", config("tf32", 1, 1), tuner.Unsupported, 0, 0},
		{"no size", config("fp32", 0, 1), tuner.Invalid, 0, 0},
		{"no passes", config("fp32", 1, 0), tuner.Invalid, 0, 0},
	} {
		got := d.Run(2, request(c.config))
		if got.Status != c.status || got.PeakBytes != c.peak || len(got.StepSeconds) != c.steps {
			t.Errorf("%s: got %+v", c.name, got)
		}
	}
	long := request(config("fp32", b, 1))
	long.Seconds = 10 * d.StepSeconds(long.Config)
	if n := len(d.Run(2, long).StepSeconds); n < 9 || n > 12 {
		t.Errorf("%d steps in the time of ten", n)
	}
	fresh := request(config("fp32", b, 1))
	plain := d.Run(2, fresh).WallSeconds
	fresh.Fresh = true
	if got := d.Run(2, fresh).WallSeconds; math.Abs(got-plain-d.StartSeconds()) > 1e-9 {
		t.Errorf("a fresh worker costs %v s, want %v", got-plain, d.StartSeconds())
	}
}

func TestNoiseOfSteps(t *testing.T) {
	d := device(t, 5, simulated.Options{})
	c := config("fp32", 1, 1)
	steps := d.Run(1, tuner.Request{Config: c, WarmupSteps: 1, Steps: 4000}).StepSeconds
	var sum, squares float64
	for _, s := range steps {
		x := math.Log(s / d.StepSeconds(c))
		sum, squares = sum+x, squares+x*x
	}
	n := float64(len(steps))
	if mean, sd := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 0.002 || math.Abs(sd-0.02) > 0.002 {
		t.Errorf("noise has mean %.4f and deviation %.4f, want 0 and 0.02", mean, sd)
	}
}

func TestFailuresThatAreNotMemory(t *testing.T) {
	count := func(o simulated.Options, run func(d *simulated.Device, i int) tuner.Status) int {
		d, n := device(t, 11, o), 0
		for i := 1; i <= 1000; i++ {
			if run(d, i) == tuner.Crashed {
				n++
			}
		}
		return n
	}
	one := func(d *simulated.Device, i int) tuner.Status {
		return d.Run(i, tuner.Request{Config: config("fp32", 1, 1), WarmupSteps: 1, Steps: 1}).Status
	}
	if n := count(simulated.Options{Failures: 0.2}, one); n < 150 || n > 250 {
		t.Errorf("%d of 1000 trials failed, want about 200", n)
	}
	if n := count(simulated.Options{}, one); n != 0 {
		t.Errorf("%d trials failed without the option", n)
	}
	if n := count(simulated.Options{Holes: 0.2}, one); n != 0 && n != 1000 {
		t.Errorf("one size failed in %d of 1000 trials, want all or none", n)
	}
}

func TestFuzzyBorder(t *testing.T) {
	d := device(t, 3, simulated.Options{Fuzzy: 0.05})
	seen := map[tuner.Status]int{}
	for i := 1; i <= 200; i++ {
		seen[d.Run(i, tuner.Request{Config: config("fp32", d.Border("fp32", 1), 1), WarmupSteps: 1, Steps: 1}).Status]++
	}
	if seen[tuner.OK] == 0 || seen[tuner.OOM] == 0 {
		t.Errorf("at the border: %v, want both", seen)
	}
}

func TestOptionsOutOfRange(t *testing.T) {
	for _, o := range []simulated.Options{{Fuzzy: -1}, {Fuzzy: 0.6}, {Failures: 2}, {Holes: math.NaN()}} {
		if _, err := simulated.NewDevice(1, o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
