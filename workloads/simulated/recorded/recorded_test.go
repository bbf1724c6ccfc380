package recorded_test

import (
	"math"
	"slices"
	"testing"

	"autotune/tuner"
	"autotune/workloads/simulated/recorded"
)

func load(t *testing.T) []recorded.Surface {
	t.Helper()
	surfaces, err := recorded.Load()
	if err != nil {
		t.Fatal(err)
	}
	return surfaces
}

func surface(t *testing.T, name string) recorded.Surface {
	t.Helper()
	surfaces := load(t)
	i := slices.IndexFunc(surfaces, func(s recorded.Surface) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("no surface %q", name)
	}
	return surfaces[i]
}

func TestEverySurfaceIsWhole(t *testing.T) {
	surfaces := load(t)
	if len(surfaces) != 84 {
		t.Errorf("%d surfaces, want 84", len(surfaces))
	}
	for _, s := range surfaces {
		space := s.Space()
		if s.Source == "" || s.GPU == "" || s.Best() <= 0 {
			t.Errorf("%s: source %q, GPU %q, best %v", s.Name, s.Source, s.GPU, s.Best())
		}
		seen := map[tuner.Config]bool{}
		for _, p := range s.Points {
			if seen[p.Config] {
				t.Errorf("%s has %v twice", s.Name, p.Config)
			}
			seen[p.Config] = true
			if !slices.Contains(space.Sets, p.Set()) || !slices.Contains(space.Sizes, p.MicroBatch) || !slices.Contains(space.Accumulations, p.Accumulation) {
				t.Errorf("%s: %v is not in the space", s.Name, p.Config)
			}
		}
		if random, best := s.RandomHalf(200, 1), s.Best()*(1+1e-9); random > best || s.LargestThatFits() > best {
			t.Errorf("%s: a rival is above the best", s.Name)
		}
	}
}

func TestReplay(t *testing.T) {
	s := surface(t, "sia-rtx-cifar10")
	p := s.Points[0]
	request := tuner.Request{Config: p.Config, Purpose: tuner.Time, WarmupSteps: 1, Steps: 3}
	got, ok := s.Run(4, request)
	if !ok || got.Number != 4 || got.Status != tuner.OK || len(got.StepSeconds) != 3 {
		t.Fatalf("got %+v, %v", got, ok)
	}
	if score := float64(p.Samples()) / got.StepSeconds[2]; math.Abs(score-p.Score) > 1e-9*p.Score {
		t.Errorf("throughput %v, want the score %v", score, p.Score)
	}
	request.MicroBatch = 33
	if _, ok := s.Run(5, request); ok {
		t.Error("a size that was never recorded ran")
	}
}

// A run past the card's memory that goes on without an error does not count as fitting.
func TestSilentCliff(t *testing.T) {
	for _, c := range []struct {
		surface string
		size    int
		status  tuner.Status
	}{
		{"autobatch-rtx4070laptop-yolo20m", 16, tuner.OOM}, // its peak is above the card's memory
		{"lm22m-16g-batchsweep", 256, tuner.OK},            // no peak is known: only its speed tells
	} {
		s := surface(t, c.surface)
		at := slices.IndexFunc(s.Points, func(p recorded.Point) bool { return p.MicroBatch == c.size })
		config := s.Points[at].Config
		if got := s.Score(config); got != 0 {
			t.Errorf("%s: %v counts as fitting, with the score %v", c.surface, config, got)
		}
		if got, _ := s.Run(1, tuner.Request{Config: config, Steps: 2}); got.Status != c.status {
			t.Errorf("%s: %v has the status %v, want %v", c.surface, config, got.Status, c.status)
		}
		if s.LargestThatFits() < s.Best()/2 {
			t.Errorf("%s: the largest that fits has %v of %v", c.surface, s.LargestThatFits(), s.Best())
		}
	}
}

func TestRepeatsBecomeTheirMedian(t *testing.T) {
	s := surface(t, "llmfoundry-a100_40gb-125m-seq2048")
	if len(s.Points) != 5 {
		t.Errorf("%d points, want 5 of 11 records", len(s.Points))
	}
}

func TestBudget(t *testing.T) {
	for name, want := range map[string]int{"sia-rtx-bert": 6, "sia-rtx-ncf": 10, "fms-a100-liger-mistral-7b-v01-4gpu": 16} {
		if got := surface(t, name).Budget(); got != want {
			t.Errorf("%s: budget %d, want %d", name, got, want)
		}
	}
}

func TestSpaceOfOneGlobalBatch(t *testing.T) {
	if got := surface(t, "litgpt-a100-40g-stablelm-alpha-3b").Space(); got.GlobalBatch != 128 {
		t.Errorf("global batch %d, want 128", got.GlobalBatch)
	}
}
