package reports_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"autotune/harness"
	"autotune/reports"
	"autotune/tuner"
)

var five = reports.CheckOptions{Thresholds: reports.Thresholds{Throughput: 0.05, Memory: 0.05}}

func check(t testing.TB, baseline, run *harness.Run, o reports.CheckOptions) reports.Comparison {
	t.Helper()
	c, err := reports.Check(baseline, run, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheck(t *testing.T) {
	for _, name := range []string{"bench-same", "bench-slower", "bench-lost"} {
		c := check(t, load(t, "bench"), load(t, name), five)
		if want := name != "bench-same"; c.Regressed != want {
			t.Errorf("%s: regressed %v", name, c.Regressed)
		}
		var out strings.Builder
		if err := c.WriteText(&out); err != nil {
			t.Fatal(err)
		}
		golden(t, name+"/check.txt", out.String())
		data, err := c.JSON()
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+"/check.json", string(data))
	}
}

func verdicts(c reports.Comparison, metric string) []reports.Verdict {
	var all []reports.Verdict
	for _, r := range c.Rows {
		if r.Metric == metric && !slices.Contains(all, r.Verdict) {
			all = append(all, r.Verdict)
		}
	}
	return all
}

func TestCheckReportsGains(t *testing.T) {
	c := check(t, load(t, "bench-slower"), load(t, "bench"), five)
	if c.Regressed {
		t.Error("a faster run that needs less memory counts as a regression")
	}
	for _, metric := range []string{reports.MetricThroughput, reports.MetricMemory} {
		if got := verdicts(c, metric); !slices.Equal(got, []reports.Verdict{reports.Better}) {
			t.Errorf("%s: %v", metric, got)
		}
	}
	c = check(t, load(t, "bench-lost"), load(t, "bench"), five)
	if c.Regressed || !slices.Contains(verdicts(c, reports.MetricThroughput), reports.Started) {
		t.Errorf("a configuration that runs now: regressed %v, %v", c.Regressed, verdicts(c, reports.MetricThroughput))
	}
}

func TestCheckThresholds(t *testing.T) {
	// bench-slower has 12% less throughput and 12% more memory.
	for _, c := range []struct {
		throughput, memory float64
		regressed          bool
	}{
		{0.05, 0.05, true},
		{math.Inf(1), 0.05, true},
		{0.05, math.Inf(1), true},
		{0.2, 0.2, false},
		{math.Inf(1), math.Inf(1), false},
	} {
		o := reports.CheckOptions{Thresholds: reports.Thresholds{Throughput: c.throughput, Memory: c.memory}}
		if got := check(t, load(t, "bench"), load(t, "bench-slower"), o); got.Regressed != c.regressed {
			t.Errorf("thresholds %v and %v: regressed %v", c.throughput, c.memory, got.Regressed)
		} else if data, err := got.JSON(); err != nil || !json.Valid(data) {
			t.Errorf("thresholds %v and %v: JSON %v", c.throughput, c.memory, err)
		}
	}
}

func TestCheckWithTooFewRepeats(t *testing.T) {
	baseline, run := load(t, "bench"), load(t, "bench-slower")
	keep := func(r *harness.Run) {
		r.Trials = slices.DeleteFunc(r.Trials, func(t harness.TrialRecord) bool { return t.Repeat > 3 })
	}
	keep(baseline)
	keep(run)
	c := check(t, baseline, run, five)
	if c.Regressed {
		t.Error("three repeats a side cannot show a significant change")
	}
	if got := verdicts(c, reports.MetricMemory); !slices.Equal(got, []reports.Verdict{reports.Unclear}) {
		t.Errorf("verdicts on memory: %v", got)
	}
	if !slices.ContainsFunc(c.Warnings, func(w string) bool { return strings.Contains(w, "too few repeats (3 and 3)") }) {
		t.Errorf("warnings: %q", c.Warnings)
	}
}

// TestCheckSaysWhereNoiseHidesARegression gives one repeat in two a step of twice the time.
func TestCheckSaysWhereNoiseHidesARegression(t *testing.T) {
	baseline, run := load(t, "bench"), load(t, "bench-same")
	for _, r := range []*harness.Run{baseline, run} {
		for i, trial := range r.Trials {
			r.Trials[i].WallSeconds *= 2
			for j := range trial.StepSeconds {
				r.Trials[i].StepSeconds[j] *= float64(1 + trial.Repeat%2)
			}
		}
	}
	c := check(t, baseline, run, five)
	if got := verdicts(c, reports.MetricThroughput); c.Regressed || !slices.Equal(got, []reports.Verdict{reports.Unclear}) {
		t.Errorf("regressed %v, verdicts %v", c.Regressed, got)
	}
	if got := verdicts(c, reports.MetricMemory); !slices.Equal(got, []reports.Verdict{reports.Same}) {
		t.Errorf("verdicts on memory, which has little noise: %v", got)
	}
}

func TestCheckRefusesDifferentRuns(t *testing.T) {
	cases := map[string]struct {
		change func(*harness.Header)
		what   string // empty: no difference that is refused
	}{
		"model":                {func(h *harness.Header) { h.Model = "lenet" }, "model: lenet, was resnet20"},
		"model option":         {func(h *harness.Header) { h.Settings.Set = map[string]string{"width": "160"} }, "model option width: 160, was the default"},
		"shape":                {func(h *harness.Header) { h.Settings.Input = "3,64,64" }, "shape of a sample: 3,64,64, was the default"},
		"classes":              {func(h *harness.Header) { h.Settings.Classes = 10 }, "classes: 10, was the default"},
		"engine":               {func(h *harness.Header) { h.Engine = "pytorch" }, "engine: pytorch, was gorgonia"},
		"device":               {func(h *harness.Header) { h.Device = "cuda:0" }, "device: cuda:0, was cpu"},
		"optimizer":            {func(h *harness.Header) { h.Settings.Optimizer = "adam" }, "optimizer: adam, was momentum"},
		"cores":                {func(h *harness.Header) { h.Environment.Cores = 4 }, "cores: 4, was 2"},
		"CPU":                  {func(h *harness.Header) { h.Environment.CPUModel = new("other") }, "CPU: other, was AMD EPYC 9B14"},
		"system":               {func(h *harness.Header) { h.Environment.OS = "darwin" }, "operating system: darwin/amd64, was linux/amd64"},
		"memory":               {func(h *harness.Header) { h.Environment.MemoryBytes = new(int64(16) << 30) }, "memory: 16 GiB, was 8 GiB"},
		"limit":                {func(h *harness.Header) { h.LimitBytes = nil }, "memory limit: none, was 512 MiB"},
		"a little more memory": {func(h *harness.Header) { *h.Environment.MemoryBytes += 100 << 20 }, ""},
		"seed":                 {func(h *harness.Header) { h.Settings.Seed = 99 }, ""},
		"precisions":           {func(h *harness.Header) { h.Settings.Precision = []string{"fp32", "fp64"} }, ""},
		"version":              {func(h *harness.Header) { h.Environment.GoVersion = "go1.99" }, ""},
	}
	for name, c := range cases {
		run := load(t, "bench")
		c.change(&run.Header)
		_, err := reports.Check(load(t, "bench"), run, five)
		var different *reports.DifferentError
		switch {
		case c.what == "" && err != nil:
			t.Errorf("%s: refused: %v", name, err)
		case c.what != "" && !errors.As(err, &different):
			t.Errorf("%s: error %v", name, err)
		case c.what != "" && (!strings.Contains(err.Error(), c.what) || different.ExitCode() != harness.ExitUsage || len(different.Differences) != 1):
			t.Errorf("%s: error %q, want %q", name, err, c.what)
		}
		allowed := five
		allowed.AllowDifferent = true
		if got := check(t, load(t, "bench"), run, allowed); got.Regressed || (len(got.Differences) > 0) != (c.what != "") {
			t.Errorf("%s allowed: regressed %v, differences %v", name, got.Regressed, got.Differences)
		}
	}
}

func TestCheckWithNothingInCommon(t *testing.T) {
	run := load(t, "bench")
	for i := range run.Trials {
		run.Trials[i].MicroBatch++
	}
	_, err := reports.Check(load(t, "bench"), run, five)
	var usage *harness.UsageError
	if !errors.As(err, &usage) || !strings.Contains(err.Error(), "no configuration in common") {
		t.Errorf("error %v", err)
	}
}

func TestCheckOfSearches(t *testing.T) {
	c := check(t, load(t, "tune"), load(t, "tune"), five)
	at := slices.IndexFunc(c.Rows, func(r reports.ComparisonRow) bool {
		return r.Config == tuner.Config{Precision: "fp32", MicroBatch: 32, Accumulation: 4}
	})
	if at < 0 || !slices.Equal(c.Rows[at].RunTrials, []int{6, 12}) {
		t.Errorf("trials of one configuration are its repeats: %+v", c.Rows)
	}
	if c.Regressed || len(c.Warnings) == 0 {
		t.Errorf("regressed %v, warnings %q", c.Regressed, c.Warnings)
	}
}

// TestCheckIsBlindToOrder holds a run against itself scaled by a factor, in both
// directions: what is a loss in one is a gain in the other.
func TestCheckIsBlindToOrder(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		factor := rapid.Float64Range(0.5, 2).Draw(rt, "factor")
		a, b := load(t, "bench"), load(t, "bench")
		for i, trial := range b.Trials {
			b.Trials[i].WallSeconds *= factor
			for j := range trial.StepSeconds {
				b.Trials[i].StepSeconds[j] *= factor
			}
		}
		o := reports.CheckOptions{}
		forward, back := check(t, a, b, o), check(t, b, a, o)
		for i, row := range forward.Rows {
			other := back.Rows[i]
			if product := (1 + row.Change.Median) * (1 + other.Change.Median); math.Abs(product-1) > 1e-9 {
				rt.Fatalf("changes %v and %v do not cancel", row.Change, other.Change)
			}
			if (row.Verdict == reports.Regression) != (other.Verdict == reports.Better) {
				rt.Fatalf("verdicts %s and %s", row.Verdict, other.Verdict)
			}
		}
		if same := check(t, b, b, o); same.Regressed {
			rt.Fatal("a run is worse than itself")
		}
	})
}

// TestCheckOfRepeatsThatFail lets the second repeat of a configuration fail.
func TestCheckOfRepeatsThatFail(t *testing.T) {
	fail := func(r *harness.Run) {
		for i, trial := range r.Trials {
			if trial.MicroBatch == 16 && trial.Accumulation == 1 && trial.Repeat == 2 {
				r.Trials[i].Failure = &harness.Failure{Type: "E", Phase: "step", Text: "\x1b[2Jbroken"}
			}
		}
	}
	good, bad := load(t, "bench"), load(t, "bench-same")
	fail(bad)
	c := check(t, good, bad, five)
	if !c.Regressed || !slices.Contains(verdicts(c, reports.MetricThroughput), reports.Stopped) {
		t.Errorf("a repeat that fails now: regressed %v, %v", c.Regressed, verdicts(c, reports.MetricThroughput))
	}
	var out strings.Builder
	if err := c.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, "1 of 6 trials did not run now") || !strings.Contains(text, "1 failing") || strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
	if c = check(t, bad, good, five); c.Regressed {
		t.Error("a repeat that failed before is a regression")
	}
	if c = check(t, bad, bad, five); c.Regressed {
		t.Error("a repeat that fails in both runs is a regression")
	}
}

// TestCheckShowsNoIntervalOfTooFewRepeats compares one repeat with one.
func TestCheckShowsNoIntervalOfTooFewRepeats(t *testing.T) {
	once := func(name string) *harness.Run {
		r := load(t, name)
		r.Trials = slices.DeleteFunc(r.Trials, func(t harness.TrialRecord) bool { return t.Repeat > 1 })
		return r
	}
	var out strings.Builder
	if err := check(t, once("bench"), once("bench-slower"), five).WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); strings.Contains(text, "% (") || !strings.Contains(text, "-11.5%") {
		t.Error(text)
	}
}

func TestUnknownMemoryIsNotNone(t *testing.T) {
	run := load(t, "bench")
	run.Header.Environment.MemoryBytes = nil
	_, err := reports.Check(load(t, "bench"), run, five)
	if err == nil || !strings.Contains(err.Error(), "memory: unknown, was 8 GiB") {
		t.Errorf("error %v", err)
	}
}

// TestCheckSaysWhichLibrariesDiffer compares runs of two versions of torch, which a gate may be meant for.
func TestCheckSaysWhichLibrariesDiffer(t *testing.T) {
	baseline, run := load(t, "bench"), load(t, "bench-same")
	baseline.Header.Versions = map[string]string{"torch": "2.9.1", "python": "3.13.1"}
	run.Header.Versions = map[string]string{"torch": "2.15.0", "python": "3.13.1", "cuda": "13.2"}
	c, err := reports.Check(baseline, run, reports.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := c.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nCompared in spite of: torch 2.9.1 and 2.15.0\n", "\nCompared in spite of: cuda unknown and 13.2\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "python") {
		t.Errorf("a version that is the same is named:\n%s", out.String())
	}
}

// TestCheckOfKnobs holds that long knobs make no line longer than a terminal's.
func TestCheckOfKnobs(t *testing.T) {
	baseline, run := load(t, "bench"), load(t, "bench-same")
	const knobs = "checkpointing=layer1+layer2+layer3+layer4,compile=on"
	for i := range run.Trials {
		baseline.Trials[i].Knobs, run.Trials[i].Knobs = knobs, knobs
	}
	c, err := reports.Check(baseline, run, reports.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := c.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "fp32 [a] 8x1") || !strings.Contains(out.String(), "[a] "+knobs) {
		t.Errorf("the knobs have no mark:\n%s", out.String())
	}
	table, _, _ := strings.Cut(out.String(), "\n\n")
	for line := range strings.Lines(table) {
		if len(line) > 82 { // the rule under the header is two longer than the widest row
			t.Errorf("%d columns: %q", len(line), line)
		}
	}
}
