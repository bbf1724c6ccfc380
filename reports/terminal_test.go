package reports_test

import (
	"strings"
	"testing"

	"autotune/harness"
	"autotune/reports"
	"autotune/tuner"
)

func TestTerminalReports(t *testing.T) {
	for _, name := range []string{"tune", "bench"} {
		run := load(t, name)
		var out strings.Builder
		if err := reports.Table(&out, run); err != nil {
			t.Fatal(err)
		}
		golden(t, name+"/table.txt", out.String())
		for line := range strings.Lines(out.String()) {
			if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
				t.Errorf("%s: %d columns: %q", name, n, line)
			}
		}
		out.Reset()
		if err := reports.Summary(&out, run); err != nil {
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
	if err := reports.Table(&out, run); err != nil {
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
	if err := reports.Summary(&out, run); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"No recommendation: 0 of 1 trials ran", "smallest peak seen is 645 MiB", "General: Checkpointing"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in %q", want, out.String())
		}
	}
	if _, err := reports.JSON(run); err == nil || !strings.Contains(err.Error(), "tune has no recommendation") {
		t.Errorf("JSON: %v", err)
	}
}

func TestAdviceWhereMemoryIsNoBound(t *testing.T) {
	run := load(t, "tune")
	run.Recommendation.Largest = []tuner.Border{{Set: tuner.Set{Precision: "fp32"}, Accumulation: 1, MicroBatch: 128, RanTrial: 1, Bound: "global batch"}}
	var out strings.Builder
	if err := reports.Summary(&out, run); err != nil {
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
	if err := reports.Table(&out, run); err != nil {
		t.Fatal(err)
	}
	if err := reports.Summary(&out, run); err != nil {
		t.Fatal(err)
	}
	if want := "No trial has run.\nNo recommendation: 0 of 0 trials ran.\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
