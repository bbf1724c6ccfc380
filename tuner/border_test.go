package tuner_test

import (
	"math"
	"math/bits"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"autotune/tuner"
)

// checkBorder says what is wrong with a border, given the trials it names.
func checkBorder(t fataler, f finished, b tuner.Border, sizes []int) {
	t.Helper()
	if b.RanTrial > 0 {
		ran := f.trials[b.RanTrial-1]
		if ran.MicroBatch != b.MicroBatch || ran.Status != tuner.OK {
			t.Fatalf("border %+v names as run trial %+v", b, ran)
		}
	}
	if b.FailedTrial == nil {
		return
	}
	failed := f.trials[*b.FailedTrial-1]
	next := sizes[slices.Index(sizes, b.MicroBatch)+1]
	if failed.MicroBatch != next || failed.Status != tuner.OOM || b.Bound != "memory" {
		t.Fatalf("border %+v names as failed trial %+v; want size %d", b, failed, next)
	}
}

// drawPeak draws a peak that does not decrease: a line or a curve with steps, in blocks.
func drawPeak(t *rapid.T) func(size int) int64 {
	fixed := rapid.Int64Range(0, 1e9).Draw(t, "fixed")
	sample := rapid.Int64Range(0, 1e7).Draw(t, "sample")
	block := rapid.SampledFrom([]int64{1, 512, 2 << 20, 20 << 20}).Draw(t, "block")
	curve := rapid.SampledFrom([]float64{1, 1, 1, 0.5, 2, 4}).Draw(t, "power of the size")
	steps := rapid.MapOf(rapid.IntRange(1, 5000), rapid.Int64Range(0, 1e9)).Draw(t, "steps")
	return func(size int) int64 {
		peak := fixed + int64(float64(sample)*math.Pow(float64(size), curve)/math.Pow(5000, curve-1)) + 1
		for from, bytes := range steps {
			if size >= from {
				peak += bytes
			}
		}
		return (peak + block - 1) / block * block
	}
}

// Whatever the memory looks like, as long as it does not decrease: the border is
// found and proven, with no more than about twice a bisection's trials.
func TestBorderIsProven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		peak := drawPeak(t)
		largest := rapid.IntRange(1, 5000).Draw(t, "largest")
		limit := peak(rapid.IntRange(1, 6000).Draw(t, "border"))
		known := rapid.Bool().Draw(t, "limit known")
		tells := rapid.Bool().Draw(t, "peaks known")
		border := 0
		for border < largest && peak(border+1) <= limit {
			border++
		}
		s := search{space: oneSet(largest), goal: tuner.Goal{Objective: tuner.Batch, SoakSteps: 1}}
		if known {
			s.goal.LimitBytes = limit
		}
		s.run = func(n int, r tuner.Request) tuner.Trial {
			trial := tuner.Trial{Number: n, Config: r.Config, Purpose: r.Purpose, Status: tuner.OK, StepSeconds: []float64{1, 1}, WallSeconds: 3}
			if tells {
				trial.PeakBytes = peak(r.MicroBatch)
			}
			if peak(r.MicroBatch) > limit {
				trial.Status, trial.PeakBytes, trial.StepSeconds = tuner.OOM, 0, nil
			}
			return trial
		}
		f := s.finish(t)
		if most := 2*bits.Len(uint(largest)) + 4; f.count(tuner.Fit) > most {
			t.Fatalf("%d trials for %d sizes, want at most %d", f.count(tuner.Fit), largest, most)
		}
		r, err := f.tuner.Recommend()
		if border == 0 {
			if err == nil {
				t.Fatalf("nothing fits, recommended %v", r.Config)
			}
			return
		}
		if err != nil || r.MicroBatch != border || r.Largest[0].MicroBatch != border {
			t.Fatalf("border %d, recommended %v with %+v, %v", border, r.Config, r.Largest, err)
		}
		if (border < largest) != (r.Largest[0].FailedTrial != nil) {
			t.Fatalf("border %d of %d: %+v", border, largest, r.Largest[0])
		}
		checkBorder(t, f, r.Largest[0], s.space.Sizes)
	})
}

// A search that is stopped after any trial and goes on from the journal asks for the
// same trials and ends in the same answer.
func TestResume(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := plain(rapid.IntRange(0, 200).Draw(t, "border"))
		d.noise, d.grads = 0.1, rapid.Int64Range(0, 100).Draw(t, "gradients")
		d.tells = rapid.Bool().Draw(t, "peaks known")
		bad := rapid.SliceOfN(rapid.IntRange(1, 30), 0, 4).Draw(t, "bad trials")
		d.fails = func(n int, _ tuner.Request) tuner.Status {
			if slices.Contains(bad, n) {
				return tuner.Crashed
			}
			return ""
		}
		s := search{
			space: tuner.Space{Sets: []tuner.Set{{Precision: "fp32"}, {Precision: "fp64"}}, Sizes: upTo(128), GlobalBatch: 128},
			goal: tuner.Goal{
				Objective:  rapid.SampledFrom([]tuner.Objective{tuner.Throughput, tuner.Batch, tuner.Memory}).Draw(t, "objective"),
				LimitBytes: d.limit, SoakSteps: rapid.IntRange(0, 5).Draw(t, "soak"), MaxTrials: rapid.IntRange(0, 20).Draw(t, "most"),
			},
			run: d.run,
		}
		whole := s.finish(t)
		if len(whole.trials) == 0 {
			return
		}
		cut := rapid.IntRange(0, len(whole.trials)).Draw(t, "cut")
		before := slices.Clone(whole.trials[:cut])
		resumed := s.resume(t, before)
		if !reflect.DeepEqual(resumed.requests, append([]tuner.Request(nil), whole.requests[cut:]...)) {
			t.Fatalf("after %d trials: asked %v, the whole run %v", cut, resumed.requests, whole.requests[cut:])
		}
		a, errA := whole.tuner.Recommend()
		b, errB := resumed.tuner.Recommend()
		if !reflect.DeepEqual(a, b) || (errA == nil) != (errB == nil) {
			t.Fatalf("after %d trials: %+v, %v; the whole run %+v, %v", cut, b, errB, a, errA)
		}
	})
}

// Next asks for the same until something is observed, and an interrupted trial is nothing.
func TestNextRepeats(t *testing.T) {
	s, err := tuner.New(oneSet(64), tuner.Goal{Objective: tuner.Batch})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := s.Next()
	s.Observe(tuner.Trial{Number: 1, Config: first.Config, Purpose: first.Purpose, Status: tuner.Interrupted})
	if second, more := s.Next(); !more || second != first {
		t.Errorf("Next gave %v, then %v", first, second)
	}
}

func TestFitTrialIsLongEnough(t *testing.T) {
	for _, space := range []tuner.Space{oneSet(64), {Sets: oneSet(1).Sets, Sizes: upTo(64), GlobalBatch: 64}} {
		f := search{space: space, goal: tuner.Goal{Objective: tuner.Batch, LimitBytes: 500}, run: plain(40).run}.finish(t)
		for _, r := range f.requests {
			if steps := r.WarmupSteps + r.Steps; r.WarmupSteps < 1 || steps < 2 || steps*r.Accumulation < 3 {
				t.Errorf("%+v runs %d steps", r, steps)
			}
		}
	}
}

// Trials that fail for another reason than memory leave the border where it is, or
// bound it and say so.
func TestHoles(t *testing.T) {
	for _, c := range []struct {
		name  string
		fails func(size int) tuner.Status
		want  int
		bound string
	}{
		{"none", func(int) tuner.Status { return "" }, 40, "memory"},
		{"first probe", only(tuner.Crashed, 8), 40, "memory"},
		{"below the border", only(tuner.Timeout, 39), 40, "memory"},
		{"at the border", only(tuner.Crashed, 40), 39, "crashed"},
		{"above the border", only(tuner.Invalid, 41), 40, "invalid"},
		{"wall", func(size int) tuner.Status {
			if size >= 20 {
				return tuner.Crashed
			}
			return ""
		}, 19, "crashed"},
		{"one size unsupported", only(tuner.Unsupported, 39), 40, "memory"},
		{"diverged", only(tuner.Diverged, 40), 40, "memory"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := plain(40)
			d.fails = func(_ int, r tuner.Request) tuner.Status { return c.fails(r.MicroBatch) }
			f := search{space: oneSet(64), goal: tuner.Goal{Objective: tuner.Batch, LimitBytes: d.limit, SoakSteps: 1}, run: d.run}.finish(t)
			if b := f.recommend(t).Largest[0]; b.MicroBatch != c.want || b.Bound != c.bound {
				t.Errorf("border %+v, want %d bound by %s", b, c.want, c.bound)
			}
		})
	}
}

func only(status tuner.Status, size int) func(int) tuner.Status {
	return func(s int) tuner.Status {
		if s == size {
			return status
		}
		return ""
	}
}

// At a border that is not sharp the search ends, and what it recommends never failed.
func TestFuzzyBorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := plain(100)
		spread := rapid.IntRange(1, 30).Draw(t, "spread")
		seed := rapid.IntRange(0, 1<<20).Draw(t, "seed")
		d.fails = func(n int, r tuner.Request) tuner.Status {
			if r.MicroBatch > 100-(n*7919+seed)%spread {
				return tuner.OOM
			}
			return ""
		}
		objective := rapid.SampledFrom([]tuner.Objective{tuner.Throughput, tuner.Batch, tuner.Memory}).Draw(t, "objective")
		f := search{space: oneSet(256), goal: tuner.Goal{Objective: objective, LimitBytes: d.limit, SoakSteps: 3}, run: d.run}.finish(t)
		r := f.recommend(t)
		if !r.Soaked {
			t.Fatalf("%v was not soaked", r.Config)
		}
		for _, trial := range f.trials {
			if trial.Status == tuner.OOM && trial.MicroBatch <= r.MicroBatch {
				t.Fatalf("%v recommended, trial %d of %v failed", r.Config, trial.Number, trial.Config)
			}
		}
		checkBorder(t, f, r.Largest[0], upTo(256))
	})
}

// A run that goes on ten times slower with the memory full does not fit.
func TestSilentCliff(t *testing.T) {
	for _, knowsPeak := range []bool{true, false} {
		d := plain(100)
		limit := d.limit
		d.limit = 1 << 40
		run := func(n int, r tuner.Request) tuner.Trial {
			trial := d.run(n, r)
			if trial.PeakBytes > limit {
				trial.PeakBytes = limit
				for i := range trial.StepSeconds {
					trial.StepSeconds[i] *= 10
				}
			}
			if !knowsPeak {
				trial.PeakBytes = 0
			}
			return trial
		}
		f := search{space: oneSet(1000), goal: tuner.Goal{Objective: tuner.Batch, LimitBytes: limit, SoakSteps: 1}, run: run}.finish(t)
		if r := f.recommend(t); r.MicroBatch != 100 || r.Largest[0].Bound != "memory" || len(r.Notes) == 0 {
			t.Errorf("peak known %v: recommended %v with %+v and notes %q", knowsPeak, r.Config, r.Largest, r.Notes)
		}
	}
}
