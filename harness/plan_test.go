//go:build unix

package harness_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"autotune/harness"
	"autotune/tuner"
)

// settings are those of a tune, changed.
func settings(change func(*harness.Settings)) harness.Settings {
	s := harness.Settings{Command: harness.CommandTune}
	change(&s)
	return s
}

func TestPlanDefaults(t *testing.T) {
	p := plan(t, harness.Settings{Command: harness.CommandTune}, workload())
	h := p.Header
	if h.GlobalBatch != 32 || h.Settings.Batch != "1..32" || h.Settings.Optimizer != "momentum" || h.Settings.Objective != "throughput" ||
		*h.LimitBytes != 2<<30 || h.LimitSource != "default, with 8 GiB available" || h.Settings.TrialTimeout != 120 {
		t.Errorf("header %+v", h)
	}
	if !reflect.DeepEqual(p.Space.Sets, []tuner.Set{{Precision: "fp32"}}) || len(p.Space.Sizes) != 32 || p.Space.GlobalBatch != 32 || p.Space.Accumulations != nil {
		t.Errorf("space %+v", p.Space)
	}
	if want := (tuner.Goal{Objective: "throughput", LimitBytes: 2 << 30}); p.Goal != want {
		t.Errorf("goal %+v", p.Goal)
	}
}

func TestPlanBatches(t *testing.T) {
	for _, c := range []struct {
		name          string
		change        func(*harness.Settings)
		global, sizes int
	}{
		{"any global batch", func(s *harness.Settings) { s.GlobalBatch = "any" }, 0, 65536},
		{"objective batch", func(s *harness.Settings) { s.Objective = "batch" }, 0, 65536},
		{"objective batch of a global batch", func(s *harness.Settings) { s.Objective, s.GlobalBatch = "batch", "96" }, 96, 65536},
		{"global batch", func(s *harness.Settings) { s.GlobalBatch = "96" }, 96, 96},
		{"list", func(s *harness.Settings) { s.Batch = "8,16" }, 32, 2},
		{"accumulation", func(s *harness.Settings) { s.Batch, s.Accumulation = "1..64", []int{4, 2, 4} }, 32, 64},
	} {
		p := plan(t, settings(c.change), workload())
		if p.Space.GlobalBatch != c.global || len(p.Space.Sizes) != c.sizes {
			t.Errorf("%s: global batch %d, %d sizes", c.name, p.Space.GlobalBatch, len(p.Space.Sizes))
		}
	}
}

func TestPlanBench(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*harness.Settings)
		want   string
	}{
		{"sizes", func(s *harness.Settings) { s.Batch = "8,4" }, "[fp32 4x1 fp32 8x1]"},
		{"accumulation", func(s *harness.Settings) { s.Batch, s.Accumulation = "4", []int{2, 1} }, "[fp32 4x1 fp32 4x2]"},
		{"global batch", func(s *harness.Settings) { s.Batch, s.GlobalBatch = "4,5,8", "16" }, "[fp32 4x4 fp32 8x2]"},
		{"both", func(s *harness.Settings) { s.Batch, s.GlobalBatch, s.Accumulation = "4,8", "16", []int{2} }, "[fp32 8x2]"},
		{"precisions", func(s *harness.Settings) { s.Batch, s.Precision = "4", []string{"fp64", "fp32"} }, "[fp64 4x1 fp32 4x1]"},
	} {
		p := plan(t, settings(func(s *harness.Settings) { s.Command = harness.CommandBench; c.change(s) }), workload())
		if got := fmt.Sprint(p.Configs); got != c.want || p.Header.Settings.Repeat != 6 {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPlanLimits(t *testing.T) {
	for _, c := range []struct {
		limit, headroom string
		bytes, leaves   int64 // 0 bytes: none
		source          string
	}{
		{"", "", 2 << 30, 0, "default"},
		{"512MiB", "10%", 512 << 20, 53687091, "--memory-limit"},
		{"25%", "1GiB", 2 << 30, 1 << 30, "25% of the 8 GiB available"},
		{"none", "", 0, 0, "only a real failure"},
		{"1GiB", "0", 1 << 30, 0, "--memory-limit"},
		{"1GiB", "none", 1 << 30, 0, "--memory-limit"},
		{"500", "", 500, 0, "--memory-limit"}, // below the parameters: found by running
	} {
		p := plan(t, settings(func(s *harness.Settings) { s.MemoryLimit, s.Headroom = c.limit, c.headroom }), workload())
		h := p.Header
		if (h.LimitBytes == nil) != (c.bytes == 0) || h.LimitBytes != nil && *h.LimitBytes != c.bytes || p.Goal.LimitBytes != c.bytes ||
			h.Headroom != c.leaves || p.Goal.HeadroomBytes != c.leaves || !strings.Contains(h.LimitSource, c.source) {
			t.Errorf("limit %q, headroom %q: %+v, %+v, %q", c.limit, c.headroom, h.LimitBytes, h.Headroom, h.LimitSource)
		}
	}
}

// TestPlanDefaultLimit halves what is available where that is less than 4 GiB.
func TestPlanDefaultLimit(t *testing.T) {
	for available, want := range map[int64]int64{3 << 30: 3 << 29, 4 << 30: 2 << 30, 1 << 20: 1 << 19} {
		p, err := harness.NewPlan(harness.Settings{Command: harness.CommandTune}, workload(), harness.Environment{AvailableBytes: &available})
		if err != nil || *p.Header.LimitBytes != want {
			t.Errorf("%d available: limit %d, %v", available, *p.Header.LimitBytes, err)
		}
	}
	p, err := harness.NewPlan(harness.Settings{Command: harness.CommandTune}, workload(), harness.Environment{})
	if err != nil || *p.Header.LimitBytes != 2<<30 || !strings.Contains(p.Header.LimitSource, "does not say") {
		t.Errorf("nothing known: %+v, %v", p.Header.LimitSource, err)
	}
}

// upTo is every whole number from 1 to n.
func upTo(n int) []int {
	var list []int
	for i := range n {
		list = append(list, i+1)
	}
	return list
}

func TestPlanErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*harness.Settings)
		want   []string // in the error: the input, and the next thing to try
	}{
		{"no divisor", func(s *harness.Settings) { s.GlobalBatch, s.Batch = "7", "2,3" }, []string{"--global-batch 7", "--batch 2,3", "divides 7"}},
		{"no divisor with accumulation", func(s *harness.Settings) { s.Batch, s.Accumulation = "4,8", []int{2, 3} }, []string{"--global-batch 32", "--accumulation 2,3"}},
		{"no divisor in bench", func(s *harness.Settings) { s.Command, s.GlobalBatch, s.Batch = "bench", "7", "2" }, []string{"--global-batch 7", "--batch 2"}},
		{"global batch 0", func(s *harness.Settings) { s.GlobalBatch = "0" }, []string{"--global-batch 0", "any"}},
		{"global batch word", func(s *harness.Settings) { s.GlobalBatch = "all" }, []string{"--global-batch all", "any"}},
		{"batch 0", func(s *harness.Settings) { s.Batch = "0" }, []string{"--batch", "0"}},
		{"batch falls", func(s *harness.Settings) { s.Batch = "8..4" }, []string{"--batch", "4..8"}},
		{"bench without sizes", func(s *harness.Settings) { s.Command = "bench" }, []string{"--batch 8,16,32"}},
		{"accumulation 0", func(s *harness.Settings) { s.Accumulation = []int{0} }, []string{"--accumulation 0", "from 1"}},
		{"accumulation that overflows", func(s *harness.Settings) { s.Accumulation = []int{1 << 62} }, []string{"--accumulation 4611686018427387904", "to 1073741824"}},
		{"more accumulation than can be searched", func(s *harness.Settings) { s.GlobalBatch, s.Accumulation = "any", upTo(65) }, []string{"--accumulation", "65", "--global-batch"}},
		{"global batch that overflows", func(s *harness.Settings) { s.GlobalBatch = "4611686018427387904" }, []string{"--global-batch 4611686018427387904", "to 1073741824"}},
		{"global batch with too many sizes", func(s *harness.Settings) { s.GlobalBatch = "2000000" }, []string{"--global-batch 2000000", "--batch 1..2000000:x2"}},
		{"unsupported precision", func(s *harness.Settings) { s.Precision = []string{"bf16"} }, []string{"--precision bf16", "engine fake", "fp32 or fp64"}},
		{"unknown precision", func(s *harness.Settings) { s.Precision = []string{"fp99"} }, []string{"--precision fp99", "unknown", "bf16"}},
		{"unknown optimizer", func(s *harness.Settings) { s.Optimizer = "lion" }, []string{"--optimizer lion", "adamw"}},
		{"unknown objective", func(s *harness.Settings) { s.Objective = "speed" }, []string{"--objective speed", "throughput"}},
		{"unknown command", func(s *harness.Settings) { s.Command = "guess" }, []string{`"guess"`, "tune"}},
		{"limit", func(s *harness.Settings) { s.MemoryLimit = "3 potatoes" }, []string{"--memory-limit", "3 potatoes", "512MiB"}},
		{"negative limit", func(s *harness.Settings) { s.MemoryLimit = "-1GiB" }, []string{"--memory-limit", "-1GiB"}},
		{"headroom", func(s *harness.Settings) { s.Headroom = "much" }, []string{"--headroom", "much"}},
		{"headroom of the whole", func(s *harness.Settings) { s.Headroom = "100%" }, []string{"--headroom 100%"}},
		{"headroom above the limit", func(s *harness.Settings) { s.MemoryLimit, s.Headroom = "1GiB", "2GiB" }, []string{"--headroom 2GiB", "1 GiB"}},
		{"headroom without a limit", func(s *harness.Settings) { s.MemoryLimit, s.Headroom = "none", "10%" }, []string{"--headroom 10%", "--memory-limit"}},
		{"negative time", func(s *harness.Settings) { s.MaxTime = -1 }, []string{"--max-time -1"}},
		{"too many trials", func(s *harness.Settings) { s.MaxTrials = 2000000000 }, []string{"--max-trials 2000000000"}},
		{"negative trials", func(s *harness.Settings) { s.MaxTrials = -1 }, []string{"--max-trials -1"}},
	} {
		_, err := harness.NewPlan(settings(c.change), workload(), environment())
		if exitCode(err) != harness.ExitUsage {
			t.Errorf("%s: error %v", c.name, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.name, err, want)
			}
		}
	}
	_, err := harness.NewPlan(settings(func(s *harness.Settings) { s.MemoryLimit = "50%" }), workload(), harness.Environment{})
	if exitCode(err) != harness.ExitUsage || !strings.Contains(err.Error(), "give a size such as 2GiB") {
		t.Errorf("a percentage of nothing known: %v", err)
	}
}

func TestPlanWarnsOfALimitWithoutUnit(t *testing.T) {
	for limit, want := range map[string]int{"512": 1, "512B": 0, "512MiB": 0, "536870912": 0} {
		p := plan(t, settings(func(s *harness.Settings) { s.MemoryLimit = limit }), workload())
		if len(p.Notes) != want {
			t.Errorf("%s: notes %q, want %d", limit, p.Notes, want)
		}
	}
}

func TestPlanWarnsOfALimitAboveWhatIsThere(t *testing.T) {
	p := plan(t, settings(func(s *harness.Settings) { s.MemoryLimit = "9GiB" }), workload())
	if len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "more than the 8 GiB that are available") {
		t.Errorf("notes %q", p.Notes)
	}
}
