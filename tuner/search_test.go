package tuner_test

import (
	"errors"
	"strings"
	"testing"

	"autotune/tuner"
)

// global is the space of fp32 with the sizes from 1 to a global batch.
func global(batch int) tuner.Space {
	return tuner.Space{Sets: []tuner.Set{{Precision: "fp32"}}, Sizes: upTo(batch), GlobalBatch: batch}
}

func TestObjectives(t *testing.T) {
	slowAbove := func(size int) func(tuner.Config) float64 {
		return func(c tuner.Config) float64 {
			if c.MicroBatch > size {
				return 1.5
			}
			return 1
		}
	}
	for _, c := range []struct {
		name      string
		space     tuner.Space
		objective tuner.Objective
		border    int
		slower    func(tuner.Config) float64
		want      tuner.Config
		bound     string
		class     int // of the border
	}{
		{"throughput, fastest inside", global(128), tuner.Throughput, 100, slowAbove(32), fp32(32, 4), "memory", 2},
		{"throughput, largest is fastest", global(128), tuner.Throughput, 100, nil, fp32(64, 2), "memory", 2},
		{"throughput, everything fits", global(64), tuner.Throughput, 1000, nil, fp32(64, 1), "global batch", 1},
		{"batch", oneSet(200), tuner.Batch, 100, slowAbove(32), fp32(100, 1), "memory", 1},
		{"batch, everything fits", oneSet(64), tuner.Batch, 1000, nil, fp32(64, 1), "batch range", 1},
		{"batch, divisors", global(128), tuner.Batch, 100, slowAbove(32), fp32(64, 2), "memory", 2},
		{"batch, global batch fits", global(128), tuner.Batch, 128, slowAbove(32), fp32(128, 1), "global batch", 1},
		{"memory", global(128), tuner.Memory, 100, func(c tuner.Config) float64 {
			return (0.002 + 0.001*float64(c.MicroBatch)) / (0.01 + 0.001*float64(c.MicroBatch)) // 16 has 92% of 64, 8 has 83%
		}, fp32(16, 8), "memory", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := plain(c.border)
			d.slower, d.noise = c.slower, 0.01
			f := search{space: c.space, goal: tuner.Goal{Objective: c.objective, LimitBytes: d.limit, SoakSteps: 3}, run: d.run}.finish(t)
			r := f.recommend(t)
			if r.Config != c.want || !r.Soaked {
				t.Errorf("recommended %v (%s), soaked %v; want %v", r.Config, r.Reason, r.Soaked, c.want)
			}
			b := r.Largest[0]
			if want := min(c.border, len(c.space.Sizes)); b.MicroBatch != want || b.Bound != c.bound || b.Accumulation != c.class {
				t.Errorf("border %+v; want %d at %d steps, bound by %s", b, want, c.class, c.bound)
			}
			checkBorder(t, f, b, c.space.Sizes)
			if *r.HeadroomBytes != d.limit-r.PeakBytes || r.PeakBytes != d.peak(r.Config) {
				t.Errorf("peak %d, headroom %d of %d", r.PeakBytes, *r.HeadroomBytes, d.limit)
			}
			soak := f.trials[r.Trial-1]
			if soak.Purpose != tuner.Soak || r.Throughput != soak.Throughput() || len(soak.StepSeconds) < 3 {
				t.Errorf("the figures are of trial %+v", soak)
			}
		})
	}
}

// Of configurations that are equally fast the one with less memory wins.
func TestEqualsAreLean(t *testing.T) {
	d := plain(100)
	d.launch = 0 // every size is as fast as the next
	d.noise = 0.01
	r := search{space: global(128), goal: tuner.Goal{Objective: tuner.Throughput, LimitBytes: d.limit, SoakSteps: 3}, run: d.run}.finish(t).recommend(t)
	if r.MicroBatch > 16 || !strings.Contains(r.Reason, "less memory") {
		t.Errorf("recommended %v: %s", r.Config, r.Reason)
	}
}

func TestHeadroom(t *testing.T) {
	for _, space := range []tuner.Space{oneSet(200), global(128)} {
		for _, objective := range []tuner.Objective{tuner.Throughput, tuner.Batch, tuner.Memory} {
			d := plain(100)
			goal := tuner.Goal{Objective: objective, LimitBytes: d.limit, HeadroomBytes: 400, SoakSteps: 2}
			r := search{space: space, goal: goal, run: d.run}.finish(t).recommend(t)
			if *r.HeadroomBytes < 400 {
				t.Errorf("%s: %v leaves %d bytes", objective, r.Config, *r.HeadroomBytes)
			}
			if r.Largest[0].MicroBatch != 100 {
				t.Errorf("%s: the border is %+v: the headroom must not change it", objective, r.Largest[0])
			}
			if want := map[bool]int{true: 60, false: 32}[space.GlobalBatch == 0]; objective == tuner.Batch && r.MicroBatch != want {
				t.Errorf("batch with headroom: %v, want %d", r.Config, want)
			}
		}
	}
}

// The soak is in a fresh process, and where it fails the next best is tried.
func TestSoak(t *testing.T) {
	d := plain(100)
	d.fails = func(_ int, r tuner.Request) tuner.Status {
		if r.Purpose == tuner.Soak && r.MicroBatch == 64 {
			return tuner.Crashed
		}
		return ""
	}
	f := search{space: global(128), goal: tuner.Goal{Objective: tuner.Throughput, LimitBytes: d.limit, SoakSteps: 5, SoakSeconds: 2}, run: d.run}.finish(t)
	for _, r := range f.requests {
		if r.Purpose == tuner.Soak && (!r.Fresh || r.Steps != 5 || r.Seconds != 2 || r.WarmupSteps < 1) {
			t.Errorf("soak %+v", r)
		}
	}
	if r := f.recommend(t); r.Config != fp32(32, 4) || !r.Soaked || !strings.Contains(strings.Join(r.Notes, "\n"), "soak") {
		t.Errorf("recommended %v, soaked %v, notes %q", r.Config, r.Soaked, r.Notes)
	}
	f = search{space: global(128), goal: tuner.Goal{Objective: tuner.Throughput, LimitBytes: d.limit}, run: d.run}.finish(t)
	if r := f.recommend(t); r.Soaked || f.count(tuner.Soak) > 0 || r.Config != fp32(64, 2) || f.trials[r.Trial-1].Config != r.Config {
		t.Errorf("without soak: %v, soaked %v, of trial %+v", r.Config, r.Soaked, f.trials[r.Trial-1])
	}
}

func TestBudgets(t *testing.T) {
	for _, c := range []struct {
		goal  tuner.Goal
		bound string
	}{
		{tuner.Goal{MaxTrials: 3}, "trials"},
		{tuner.Goal{MaxSeconds: 0.3}, "time"},
	} {
		d := plain(1000)
		c.goal.Objective, c.goal.LimitBytes, c.goal.SoakSteps = tuner.Throughput, d.limit, 2
		f := search{space: oneSet(65536), goal: c.goal, run: d.run}.finish(t)
		r := f.recommend(t)
		if r.Largest[0].Bound != c.bound || r.Largest[0].FailedTrial != nil || !r.Soaked {
			t.Errorf("bound on %s: border %+v, soaked %v", c.bound, r.Largest[0], r.Soaked)
		}
		if n := len(f.trials) - f.count(tuner.Soak); c.goal.MaxTrials > 0 && n != c.goal.MaxTrials {
			t.Errorf("%d trials before the soak, want %d", n, c.goal.MaxTrials)
		}
	}
}

// The soak is not held against the bounds.
func TestSoakIsOutsideTheBounds(t *testing.T) {
	d := plain(100)
	goal := tuner.Goal{Objective: tuner.Throughput, LimitBytes: d.limit, SoakSteps: 2}
	free := search{space: global(128), goal: goal, run: d.run}.finish(t)
	goal.MaxTrials = len(free.trials) // one more than it needs without the soak
	if r := (search{space: global(128), goal: goal, run: d.run}.finish(t).recommend(t)); len(r.Notes) > 0 {
		t.Errorf("notes %q", r.Notes)
	}
}

func TestPrecisions(t *testing.T) {
	d := plain(100)
	d.slower = func(c tuner.Config) float64 {
		if c.Precision == "fp64" {
			return 3
		}
		return 1
	}
	d.fails = func(_ int, r tuner.Request) tuner.Status {
		switch r.Precision {
		case "bf16":
			return tuner.Unsupported
		case "fp16":
			return tuner.Diverged
		}
		return ""
	}
	space := global(128)
	space.Sets = []tuner.Set{{Precision: "fp64"}, {Precision: "fp32"}, {Precision: "bf16"}, {Precision: "fp16"}}
	f := search{space: space, goal: tuner.Goal{Objective: tuner.Throughput, LimitBytes: d.limit, SoakSteps: 2}, run: d.run}.finish(t)
	r := f.recommend(t)
	if r.Precision != "fp32" || len(r.Largest) != 4 {
		t.Fatalf("recommended %v with %+v", r.Config, r.Largest)
	}
	for i, want := range []tuner.Border{{MicroBatch: 100, Bound: "memory"}, {MicroBatch: 100, Bound: "memory"}, {Bound: "unsupported"}} {
		if b := r.Largest[i]; b.MicroBatch != want.MicroBatch || b.Bound != want.Bound {
			t.Errorf("%s: border %+v, want %+v", space.Sets[i], b, want)
		}
	}
	notes := strings.Join(r.Notes, "\n")
	if !strings.Contains(notes, "bf16 is not supported") || !strings.Contains(notes, "fp16 never ran") {
		t.Errorf("notes %q", r.Notes)
	}
	unsupported := 0
	for _, trial := range f.trials {
		if trial.Precision == "bf16" {
			unsupported++
		}
	}
	if unsupported != 1 {
		t.Errorf("%d trials of a precision that is not supported, want 1", unsupported)
	}
}

func TestNoAnswer(t *testing.T) {
	always := func(s tuner.Status) func(int, tuner.Request) tuner.Status {
		return func(int, tuner.Request) tuner.Status { return s }
	}
	for _, c := range []struct {
		name  string
		space tuner.Space
		goal  tuner.Goal
		d     *device
		want  error
		says  string
	}{
		{"nothing fits, peaks known", global(64), tuner.Goal{}, &device{limit: 50, fixed: 100, sample: 10, seconds: 1, tells: true}, tuner.ErrNothingFits, "smallest peak seen is 110 bytes"},
		{"nothing fits", oneSet(64), tuner.Goal{}, &device{limit: 50, fixed: 100, sample: 10, seconds: 1}, tuner.ErrNothingFits, "ran out of memory"},
		{"no headroom left", oneSet(64), tuner.Goal{HeadroomBytes: 1000}, plain(100), tuner.ErrNothingFits, "headroom of 1000"},
		{"crashes", oneSet(64), tuner.Goal{}, &device{limit: 1000, fails: always(tuner.Crashed)}, tuner.ErrNoAnswer, "ended as crashed"},
		{"crashes below what is out of memory", oneSet(64), tuner.Goal{}, &device{limit: 50, fixed: 20, sample: 10, seconds: 1, fails: func(_ int, r tuner.Request) tuner.Status {
			if r.MicroBatch <= 3 {
				return tuner.Crashed
			}
			return ""
		}}, tuner.ErrNoAnswer, "ended as crashed"},
		{"crashes at its second trial, where another precision does not fit", tuner.Space{Sets: []tuner.Set{{Precision: "fp64"}, {Precision: "fp32"}}, Sizes: []int{4}}, tuner.Goal{}, &device{limit: 100, fixed: 20, sample: 10, seconds: 1, fails: func(_ int, r tuner.Request) tuner.Status {
			switch {
			case r.Precision == "fp64":
				return tuner.OOM
			case r.Purpose == tuner.Soak:
				return tuner.Crashed
			}
			return ""
		}}, tuner.ErrNoAnswer, "ended as crashed"},
		{"unsupported", oneSet(64), tuner.Goal{}, &device{limit: 1000, fails: always(tuner.Unsupported)}, tuner.ErrNoAnswer, "ended as unsupported"},
		{"out of trials", oneSet(64), tuner.Goal{MaxTrials: 1}, &device{limit: 50, fixed: 20, sample: 10, seconds: 1}, tuner.ErrNoAnswer, "bound on trials"},
	} {
		for _, objective := range []tuner.Objective{tuner.Throughput, tuner.Batch, tuner.Memory} {
			goal := c.goal
			goal.Objective, goal.LimitBytes, goal.SoakSteps = objective, c.d.limit, 2
			f := search{space: c.space, goal: goal, run: c.d.run}.finish(t)
			if _, err := f.tuner.Recommend(); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, %s: error %v, want %v with %q", c.name, objective, err, c.want, c.says)
			}
			if len(f.trials) > 20 {
				t.Errorf("%s, %s: %d trials to find that out", c.name, objective, len(f.trials))
			}
		}
	}
}

// A trial that went wrong and had the memory for it says nothing of a lack of memory.
func TestNoAnswerWithoutALimit(t *testing.T) {
	for _, status := range []tuner.Status{tuner.Diverged, tuner.Invalid} {
		for _, goal := range []tuner.Goal{{Objective: tuner.Throughput, SoakSteps: 2}, {Objective: tuner.Batch, LimitBytes: 1000}} {
			f := search{space: oneSet(64), goal: goal, run: func(n int, r tuner.Request) tuner.Trial {
				return tuner.Trial{Number: n, Config: r.Config, Purpose: r.Purpose, Status: status, PeakBytes: 500, StepSeconds: []float64{1}, WallSeconds: 1}
			}}.finish(t)
			if _, err := f.tuner.Recommend(); !errors.Is(err, tuner.ErrNoAnswer) || !strings.Contains(err.Error(), "ended as "+string(status)) {
				t.Errorf("%s with a limit of %d: error %v", status, goal.LimitBytes, err)
			}
		}
	}
}

func TestNewErrors(t *testing.T) {
	good := tuner.Goal{Objective: tuner.Throughput}
	for _, c := range []struct {
		space tuner.Space
		goal  tuner.Goal
		says  string
	}{
		{tuner.Space{Sizes: []int{1}}, good, "no precision"},
		{tuner.Space{Sets: oneSet(1).Sets}, good, "no micro-batch"},
		{tuner.Space{Sets: oneSet(1).Sets, Sizes: []int{0, 1}}, good, "below 1"},
		{tuner.Space{Sets: oneSet(1).Sets, Sizes: []int{2, 1}}, good, "do not rise"},
		{tuner.Space{Sets: oneSet(1).Sets, Sizes: []int{1}, Accumulations: []int{0}}, good, "below 1"},
		{tuner.Space{Sets: oneSet(1).Sets, Sizes: []int{3, 5}, GlobalBatch: 8}, good, "make the global batch 8"},
		{tuner.Space{Sets: oneSet(1).Sets, Sizes: []int{4}, Accumulations: []int{1}, GlobalBatch: 8}, good, "make the global batch 8"},
		{oneSet(1), tuner.Goal{}, "unknown objective"},
		{oneSet(1), tuner.Goal{Objective: tuner.Batch, MaxTrials: -1}, "below 0"},
		{oneSet(1), tuner.Goal{Objective: tuner.Batch, MaxSeconds: -1}, "below 0"},
		{oneSet(1), tuner.Goal{Objective: tuner.Batch, LimitBytes: 5, HeadroomBytes: 5}, "leaves nothing"},
	} {
		if _, err := tuner.New(c.space, c.goal); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("New(%+v, %+v): %v, want %q", c.space, c.goal, err, c.says)
		}
	}
}

// Left falls to nothing as the search goes on.
func TestLeft(t *testing.T) {
	d := plain(100)
	s, err := tuner.New(global(128), tuner.Goal{Objective: tuner.Throughput, LimitBytes: d.limit, SoakSteps: 3})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		trials, seconds := s.Left()
		r, more := s.Next()
		if !more {
			if trials != 0 || seconds != 0 {
				t.Errorf("at the end %d trials, %v s left", trials, seconds)
			}
			return
		}
		if trials < 1 || trials > 30 || seconds < 0 || n > 1 && seconds == 0 {
			t.Errorf("before trial %d: %d trials, %v s left", n, trials, seconds)
		}
		s.Observe(d.run(n, r))
	}
}

// TestReasonTellsPredictions checks that the reason says when configurations were compared without being timed.
func TestReasonTellsPredictions(t *testing.T) {
	only := global(64)
	only.Sizes = []int{64}
	for _, c := range []struct {
		space     tuner.Space
		predicted bool
	}{{only, false}, {global(64), true}} {
		f := search{space: c.space, goal: tuner.Goal{Objective: tuner.Throughput, LimitBytes: 1000, SoakSteps: 2}, run: plain(1000).run}.finish(t)
		r, err := f.tuner.Recommend()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(r.Reason, "predicted"); got != c.predicted {
			t.Errorf("%d sizes: the reason is %q", len(c.space.Sizes), r.Reason)
		}
	}
}
