package reports_test

import (
	"slices"
	"strings"
	"testing"

	"autotune/harness"
	"autotune/reports"
	"autotune/tuner"
	"autotune/tuner/stats"
)

func TestTerminalReports(t *testing.T) {
	for _, name := range []string{"tune", "bench", "pytorch"} {
		run := load(t, name)
		var out strings.Builder
		if err := of(t, run).Table(&out); err != nil {
			t.Fatal(err)
		}
		golden(t, name+"/table.txt", out.String())
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("%s: %d columns: %q", name, n, line)
			}
		}
		out.Reset()
		if err := of(t, run).Summary(&out); err != nil {
			t.Fatal(err)
		}
		golden(t, name+"/summary.txt", out.String())
	}
}

func TestTableIsCutAtFortyRows(t *testing.T) {
	run := load(t, "tune")
	failed := run.Trials[9] // crashed
	for n := len(run.Trials) + 1; n <= 60; n++ {
		trial := run.Trials[0]
		if n == 60 {
			trial = failed
		}
		trial.Number = n
		run.Trials = append(run.Trials, trial)
	}
	var out strings.Builder
	if err := of(t, run).Table(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 2+40+1 || lines[42] != "20 more in trials.csv" {
		t.Errorf("%d lines, the last %q", len(lines), lines[len(lines)-1])
	}
	position := func(number string) int {
		for i, line := range lines {
			if fields := strings.Fields(line); fields[0] == number {
				return i
			}
		}
		return -1
	}
	// The recommended configuration, the border, the failures, the rest.
	order := []int{position("12"), position("3"), position("60"), position("1")}
	for i := 1; i < len(order); i++ {
		if order[i-1] < 0 || order[i] < order[i-1] {
			t.Errorf("rows of trials 12, 3, 60 and 1 stand at %v", order)
		}
	}
}

func TestRunWithoutAnswer(t *testing.T) {
	run := load(t, "tune")
	run.Recommendation = nil
	run.Trials = run.Trials[10:11] // did not fit
	var out strings.Builder
	if err := of(t, run).Summary(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"No recommendation: 0 of 1 trials ran (1 oom)", "smallest peak seen is 645 MiB", "General: Checkpointing"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
	if _, err := of(t, run).JSON(); err == nil || !strings.Contains(err.Error(), "tune has no recommendation") {
		t.Errorf("JSON: %v", err)
	}
}

func TestAdviceWhereMemoryIsNoBound(t *testing.T) {
	run := load(t, "tune")
	run.Recommendation.Largest = []tuner.Border{{Set: tuner.Set{Precision: "fp32"}, Accumulation: 1, MicroBatch: 128, RanTrial: 1, Bound: "global batch"}}
	var out strings.Builder
	if err := of(t, run).Summary(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"stopped by: global batch", "Memory was not what stopped the search"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "General:") {
		t.Errorf("advice on memory, which was no bound:\n%s", out.String())
	}
}

func TestEmptyRun(t *testing.T) {
	var out strings.Builder
	run := &harness.Run{Dir: "empty"}
	if err := of(t, run).Table(&out); err != nil {
		t.Fatal(err)
	}
	if err := of(t, run).Summary(&out); err != nil {
		t.Fatal(err)
	}
	if want := "No trial has run.\nNo recommendation: 0 of 0 trials ran.\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestTerminalIsNotSteered gives a failure a text that is long and moves the cursor.
func TestTerminalIsNotSteered(t *testing.T) {
	run := load(t, "bench")
	bad := run.Trials[0]
	bad.Number, bad.MicroBatch = len(run.Trials)+1, 3
	bad.Failure = &harness.Failure{Type: "E", Phase: "step", Text: "\n\x1b[2J\ta\rb \u009b31m " + strings.Repeat("word ", 1000)}
	run.Trials = append(run.Trials, bad)
	var out strings.Builder
	if err := of(t, run).Table(&out); err != nil {
		t.Fatal(err)
	}
	if err := of(t, run).Summary(&out); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\r\t\u009b") || out.Len() > 8<<10 {
		t.Errorf("%d bytes, control characters among them: %q", out.Len(), out.String())
	}
	for line := range strings.Lines(out.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// summary is the answer of testdata/tune after a change, in one line.
func summary(t *testing.T, change func(*harness.Run)) string {
	t.Helper()
	run := load(t, "tune")
	change(run)
	var out strings.Builder
	if err := of(t, run).Summary(&out); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// TestAdviceIsOnlyWhatTheTrialsShow changes what the advice rests on.
func TestAdviceIsOnlyWhatTheTrialsShow(t *testing.T) {
	largest := func(precision, bound string) tuner.Border {
		return tuner.Border{Set: tuner.Set{Precision: precision}, Accumulation: 2, MicroBatch: 45, RanTrial: 5, Bound: bound}
	}
	cases := map[string]struct {
		change    func(*harness.Run)
		has, lack string
	}{
		"as it was": {func(*harness.Run) {}, "fp32 8x16 peaked at 152.7 MiB in trial 8, with 93.1%", "not what stopped"},
		"less memory by less accumulation": {func(r *harness.Run) {
			r.Recommendation.MicroBatch, r.Recommendation.Accumulation = 4, 32
		}, "", "More accumulation"},
		"less memory by another precision": {func(r *harness.Run) {
			for i := range r.Trials {
				if r.Trials[i].MicroBatch != 32 {
					r.Trials[i].Precision = "bf16"
				}
			}
		}, "", "More accumulation"},
		"far slower":         {func(r *harness.Run) { r.Recommendation.Throughput.Median = 1000 }, "", "More accumulation"},
		"hardly less memory": {func(r *harness.Run) { r.Recommendation.PeakBytes = 155 << 20 }, "", "More accumulation"},
		"memory bound of another precision": {func(r *harness.Run) {
			r.Recommendation.Largest = []tuner.Border{largest("fp32", "global batch"), largest("fp64", "memory")}
		}, "Memory was not what stopped", "A larger memory limit"},
		"bound by time": {func(r *harness.Run) { r.Recommendation.Largest = []tuner.Border{largest("fp32", "time")} },
			"", "Memory was not what stopped"},
		"bound by the headroom": {func(r *harness.Run) {
			r.Recommendation.Largest = []tuner.Border{largest("fp32", "global batch")}
			r.Header.Headroom = 100 << 20
		}, "A larger memory limit", "Memory was not what stopped"},
		"state of the recommended precision": {func(r *harness.Run) {
			r.Header.Settings.Precision = []string{"fp32", "fp64"}
			r.Recommendation.Precision = "fp64"
			r.Recommendation.Largest = []tuner.Border{largest("fp64", "memory")}
		}, "momentum keeps 1 value for each parameter, 2.1 MiB by calculation", ""},
	}
	for name, c := range cases {
		text := summary(t, c.change)
		if !strings.Contains(text, c.has) {
			t.Errorf("%s: no %q in %s", name, c.has, text)
		}
		if c.lack != "" && strings.Contains(text, c.lack) {
			t.Errorf("%s: %q in %s", name, c.lack, text)
		}
	}
}

func TestSummarySaysWhyThereIsNoInterval(t *testing.T) {
	steps := func(seconds ...float64) func(*harness.Run) {
		return func(r *harness.Run) {
			r.Trials[11].StepSeconds = seconds
			r.Recommendation.Throughput = stats.Interval{Median: 128, Low: 128, High: 128}
		}
	}
	if text := summary(t, steps(1, 1, 1, 1, 1)); !strings.Contains(text, "5 timed steps are too few for an interval") {
		t.Errorf("five steps: %s", text)
	}
	if text := summary(t, steps(1, 1, 1, 1, 1, 1)); strings.Contains(text, "too few") {
		t.Errorf("six equal steps: %s", text)
	}
}

func TestRunThatLeavesNoHeadroom(t *testing.T) {
	text := summary(t, func(r *harness.Run) {
		r.Recommendation = nil
		r.Header.Headroom = 500 << 20
	})
	if !strings.Contains(text, "none left the headroom of 500 MiB") {
		t.Error(text)
	}
}

func TestStoppedTrialIsNoPeak(t *testing.T) {
	text := summary(t, func(r *harness.Run) {
		r.Recommendation = nil
		r.Trials = r.Trials[10:11]
		r.Trials[0].Memory.Peak, r.Trials[0].SeenPeakBytes = nil, 650<<20
		r.Trials[0].Failure = &harness.Failure{Type: harness.FailureOverLimit}
	})
	if !strings.Contains(text, "650 MiB in trial 11, which was stopped there and needs more; the limit is 512 MiB") {
		t.Error(text)
	}
}

// TestBenchOfManyConfigurations lets most of 60 configurations fail, one of them after it ran.
func TestBenchOfManyConfigurations(t *testing.T) {
	run := load(t, "bench")
	good := run.Trials[0]
	run.Trials = nil
	for n := 1; n <= 61; n++ {
		trial := good
		trial.Number, trial.MicroBatch, trial.Samples = n, n, slices.Clone(good.Samples)
		resize(&trial, min(n, 60))
		if n < 60 {
			trial.Memory.Peak = map[string]int64{"resident": 1 << 40}
		}
		if n == 5 || n == 61 {
			trial.Memory.Peak = good.Memory.Peak
			trial.Failure = &harness.Failure{Type: "E", Phase: "step", Text: "broken"}
		}
		run.Trials = append(run.Trials, trial)
	}
	var out strings.Builder
	if err := of(t, run).Summary(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 2+40+1+10+1 || !strings.HasPrefix(lines[2], "fp32    60x1") || !strings.HasSuffix(lines[2], "1 of 2 crashed") {
		t.Errorf("%d lines:\n%s", len(lines), out.String())
	}
	for i, want := range map[int]string{42: "20 more in report.html", 43: "fp32 5x1, trial 5, and in 1 other trial: broken", 44: "fp32 1x1, trial 1: peak above limit", 53: "49 more failed: see trials.csv"} {
		if i < len(lines) && lines[i] != want {
			t.Errorf("line %d is %q, want %q", i+1, lines[i], want)
		}
	}
	for _, line := range lines {
		if len(line) > 80 {
			t.Errorf("%d columns: %q", len(line), line)
		}
	}
}

// TestNoUnitOfNothing looks at a column of peaks of which none is known.
func TestNoUnitOfNothing(t *testing.T) {
	run := load(t, "bench")
	run.Trials = run.Trials[:1]
	run.Trials[0].Memory.Peak, run.Trials[0].SeenPeakBytes = nil, 0
	run.Trials[0].Failure = &harness.Failure{Type: "E", Phase: "step", Text: "broken"}
	var out strings.Builder
	if err := of(t, run).Table(&out); err != nil {
		t.Fatal(err)
	}
	if err := of(t, run).Summary(&out); err != nil {
		t.Fatal(err)
	}
	page, err := reports.Page(run)
	if err != nil || strings.Contains(out.String(), "peak B") || strings.Contains(string(page), "Peak B") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestLossThatIsNotFinite(t *testing.T) {
	run := load(t, "tune")
	run.Recommendation = nil
	run.Trials = run.Trials[:2]
	for i := range run.Trials {
		run.Trials[i].Losses[0] = nil
	}
	var out strings.Builder
	if err := of(t, run).Table(&out); err != nil {
		t.Fatal(err)
	}
	if err := of(t, run).Summary(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"diverged  loss not finite", "0 of 2 trials ran (2 diverged)."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
