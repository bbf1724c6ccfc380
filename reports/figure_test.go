package reports_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"autotune/harness"
	"autotune/reports"
)

func TestFigures(t *testing.T) {
	for _, name := range []string{"tune", "bench", "pytorch"} {
		figures, err := reports.Figures(load(t, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range figures {
			golden(t, name+"/"+f.Name+".svg", svg(t, f)+"\n"+f.Caption+"\n")
		}
	}
}

// svg is a figure as SVG that is well formed and has no colour of its own.
func svg(t *testing.T, f *reports.Figure) string {
	t.Helper()
	text, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s is not well formed: %v", f.Name, err)
		}
	}
	if colour := regexp.MustCompile(`:#[0-9A-F]{6}`).FindString(text); colour != "" {
		t.Errorf("%s has the colour %s, which no colour scheme changes", f.Name, colour)
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Errorf("%s has a coordinate that is no number", f.Name)
	}
	return text
}

// TestFiguresOfOddRuns draws what leaves an axis without a range or a series
// without points.
func TestFiguresOfOddRuns(t *testing.T) {
	cases := map[string]func(*harness.Run){
		"no trial":    func(r *harness.Run) { r.Trials = nil },
		"one trial":   func(r *harness.Run) { r.Trials = r.Trials[:1] },
		"one size":    func(r *harness.Run) { r.Trials = []harness.TrialRecord{r.Trials[5], r.Trials[11]} },
		"all failed":  func(r *harness.Run) { r.Trials = r.Trials[8:11] },
		"no limit":    func(r *harness.Run) { r.Header.LimitBytes = nil },
		"far limit":   func(r *harness.Run) { r.Header.LimitBytes = new(int64(1) << 40) },
		"no peaks":    func(r *harness.Run) { r.Header.LimitOn = "tensors"; r.Header.LimitBytes = nil },
		"wide sizes":  func(r *harness.Run) { resize(&r.Trials[4], 65536) },
		"knobs":       func(r *harness.Run) { r.Trials[4].Knobs = "checkpointing=on" },
		"interrupted": func(r *harness.Run) { r.Trials[12].Failure.Type = harness.FailureInterrupted },
		"empty header": func(r *harness.Run) {
			r.Header = harness.Header{}
			r.Recommendation = nil
		},
	}
	for name, change := range cases {
		t.Run(name, func(t *testing.T) {
			run := load(t, "tune")
			change(run)
			figures, err := reports.Figures(run)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range figures {
				svg(t, f)
			}
			if _, err := reports.Page(run); err != nil {
				t.Errorf("page: %v", err)
			}
		})
	}
}

// resize gives a trial another micro-batch that its worker saw too.
func resize(trial *harness.TrialRecord, size int) {
	trial.MicroBatch = size
	for i := range trial.Samples {
		trial.Samples[i] = trial.Config.Samples()
	}
}

func TestEmptyFiguresAsPNG(t *testing.T) {
	figures, err := reports.Figures(&harness.Run{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		if data, err := f.PNG(); err != nil || !bytes.HasPrefix(data, []byte("\x89PNG")) {
			t.Errorf("%s: %d bytes, %v", f.Name, len(data), err)
		}
	}
}

func TestStepTimeIsSplitByAccumulation(t *testing.T) {
	run := load(t, "bench")
	figures, err := reports.Figures(run)
	if err != nil {
		t.Fatal(err)
	}
	if text := svg(t, figures[2]); !strings.Contains(text, "rest of the step") || strings.Contains(text, "not split") {
		t.Error("every size ran with 1 and 2 passes, but not every bar is split")
	}
	for i := range run.Trials {
		run.Trials[i].Precision = []string{"fp32", "fp64"}[run.Trials[i].Accumulation-1]
	}
	if figures, err = reports.Figures(run); err != nil {
		t.Fatal(err)
	}
	if text := svg(t, figures[2]); strings.Contains(text, "rest of the step") {
		t.Error("a bar is split by trials of another precision")
	}
}

// TestMemoryFigureKeepsWhatRanInSight gives failures far beyond what ran: in size and in memory.
func TestMemoryFigureKeepsWhatRanInSight(t *testing.T) {
	run := load(t, "tune")
	resize(&run.Trials[10], 65536)
	run.Trials[2].Memory.Peak["resident"] = 1 << 40
	resize(&run.Trials[11], 2) // of a set of its own, so that its line is steep
	resize(&run.Trials[6], 1)
	run.Trials[11].Precision, run.Trials[6].Precision = "fp64", "fp64"
	figures, err := reports.Figures(run)
	if err != nil {
		t.Fatal(err)
	}
	text := svg(t, figures[1])
	if !strings.Contains(text, "peak resident memory (MiB)") || !strings.Contains(text, ">800<") || strings.Contains(text, ">1000<") {
		t.Error("the axis of memory follows a failure")
	}
	if strings.Contains(text, ">20000<") || !strings.Contains(figures[1].Caption, "1 failed trial above a micro-batch of 90 is left out.") {
		t.Errorf("the axis of sizes follows a failure; %s", figures[1].Caption)
	}
}

// TestStepTimeLabelsFit draws as many bars of as large sizes as there can be.
func TestStepTimeLabelsFit(t *testing.T) {
	run := load(t, "tune")
	run.Header.GlobalBatch = 0
	good := run.Trials[4]
	run.Trials = nil
	for n := 1; n <= 14; n++ {
		trial := good
		trial.Number, trial.Samples = n, slices.Clone(good.Samples)
		resize(&trial, 10000+n)
		run.Trials = append(run.Trials, trial)
	}
	figures, err := reports.Figures(run)
	if err != nil {
		t.Fatal(err)
	}
	if text := svg(t, figures[2]); strings.Contains(text, "10001x") || !strings.Contains(text, ">10001<") {
		t.Error("a label of 14 is not broken")
	}
}

// TestStepTimeCaption tells whether the bars can be compared.
func TestStepTimeCaption(t *testing.T) {
	for name, lower := range map[string]bool{"tune": true, "bench": false} {
		figures, err := reports.Figures(load(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if text := figures[2].Caption; strings.HasPrefix(text, "Lower is faster.") != lower {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestFiguresShareColours holds that the first precision of a run has the first colour in both figures.
func TestFiguresShareColours(t *testing.T) {
	run := load(t, "tune")
	run.Trials[0].Precision, run.Trials[0].Failure = "fp64", &harness.Failure{Type: "E"}
	run.Trials[3].Precision = "fp64" // runs after trials of fp32 did
	figures, err := reports.Figures(run)
	if err != nil {
		t.Fatal(err)
	}
	text := svg(t, figures[1])
	if fp64, fp32 := strings.Index(text, ">fp64, accum"), strings.Index(text, ">fp32, accum"); fp64 < 0 || fp32 < fp64 {
		t.Errorf("fp64, the first precision, stands at %d, fp32 at %d", fp64, fp32)
	}
}

// TestEmptyFiguresSaySo looks at the captions of figures without a measurement.
func TestEmptyFiguresSaySo(t *testing.T) {
	run := load(t, "tune")
	run.Trials = run.Trials[8:11] // all failed
	figures, err := reports.Figures(run)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*reports.Figure{figures[0], figures[2]} {
		if !strings.HasPrefix(f.Caption, "No configuration ran") {
			t.Errorf("%s: %s", f.Name, f.Caption)
		}
	}
	if figures[0].Empty || !figures[2].Empty {
		t.Errorf("failed sizes to be seen: %t; no step time to be seen: %t", !figures[0].Empty, figures[2].Empty)
	}
}
