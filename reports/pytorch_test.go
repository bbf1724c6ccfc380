package reports_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"autotune/harness"
	"autotune/reports"
)

// The run in testdata/pytorch was written by hand: no GPU made it. It has what only PyTorch and a GPU have.

// pyTorchSummary is the summary of that run after a change.
func pyTorchSummary(t *testing.T, change func(*harness.Run)) string {
	t.Helper()
	run := load(t, "pytorch")
	change(run)
	var out strings.Builder
	if err := of(t, run).Summary(&out); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func TestPyTorchSummarySaysWhatItSaw(t *testing.T) {
	text := pyTorchSummary(t, func(*harness.Run) {})
	for _, want := range []string{
		"800 MiB reserved by the allocator (trial 13)",
		"fp32 [compile=on], 2 passes a step: no size ran; stopped by: unsupported (trial 7: torch.compile changed nothing",
		"Predicted 540 MiB allocator bytes at 64, without running it; measured 541 MiB in trial 13 (-0.2%)",
		"Predicted Not for fp16, so that the search went on without: aten._local_scalar_dense.default Failed",
		`Failed Trial 10 (fp32 1x128), crashed: ValueError: <script>`, "Trial 11 (fp32 128x1), invalid: a micro-batch of 128 samples was asked for, training saw 100",
		"4 times in trial 4 (fp32 113x2), and in 1 other trial",
		"800 MiB reserved and 541 MiB given out in trial 8",
		"Other processes held up to 1.5 GiB of the device's memory (trial 2)",
		"2 of 4 optimizer steps changed no weight in trial 5 (fp16 16x2), and in 1 other trial",
		"Measured with cuda 13.2, python 3.13.1, torch 2.15.0",
		"fp32 [checkpointing=on] 64x2 peaked at 330 MiB in trial 9, with 77.8% of the throughput",
		"--knobs expandable does", "General: torch.cuda.empty_cache()",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	for _, wrong := range []string{"leaner optimizer", "Checkpointing (activations"} { // the optimizer is the user's own; it was measured
		if strings.Contains(text, wrong) {
			t.Errorf("%q in %s", wrong, text)
		}
	}
}

func TestPyTorchSummaryIsSilentWhereThereWasNothing(t *testing.T) {
	text := pyTorchSummary(t, func(r *harness.Run) {
		r.Header.Device, r.Header.Model, r.Header.Settings.Optimizer, r.Forecasts = "cpu", "torchvision:resnet18", "momentum", nil
		for i := range r.Trials {
			memory := &r.Trials[i].Memory
			memory.AllocatorRetries, r.Trials[i].SkippedSteps = 0, 0
			if reserved, known := memory.Peak["reserved"]; known {
				memory.Peak = map[string]int64{"reserved": reserved, "allocated": reserved}
			}
		}
	})
	for _, wrong := range []string{"Predicted", "Retries", "Fragmented", "In use", "Skipped", "expandable", "Other processes", "empty_cache"} {
		if strings.Contains(text, wrong) {
			t.Errorf("%q in %s", wrong, text)
		}
	}
	if want := "momentum keeps 1 value for each parameter, 44.6 MiB by calculation; sgd keeps none"; !strings.Contains(text, want) {
		t.Errorf("no %q in %s", want, text)
	}
}

// TestPredictionOfTheLimitsCounter leaves the counter's name out, which the limit has named.
func TestPredictionOfTheLimitsCounter(t *testing.T) {
	text := pyTorchSummary(t, func(r *harness.Run) {
		for i := range r.Forecasts {
			r.Forecasts[i].Counter = "reserved"
		}
	})
	if want := "Predicted 540 MiB at 64, without running it; measured 800 MiB in trial 13 (-32.5%)"; !strings.Contains(text, want) {
		t.Errorf("no %q in %s", want, text)
	}
}

// TestPyTorchPageShowsTracebacks looks for the user's whole traceback, folded and escaped.
func TestPyTorchPageShowsTracebacks(t *testing.T) {
	run := load(t, "pytorch")
	data, err := reports.Page(run)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, want := range []string{
		"<title>autotune: models/My &lt;b&gt;net&lt;/b&gt;.py:build on cuda:0</title>",
		"<details><summary>ValueError: &lt;script&gt;alert(&#34;trial 1&#34;)&lt;/script&gt; expected 3 channels &amp; got 4</summary>",
		"line 12, in network\n    raise ValueError(&#34;&lt;script&gt;&#34;)</code></pre></details>",
		"training saw 100", "(a made-up device) with 1.5 GiB used by others: python 1234,", "Memory and steps in detail", "Allocator retries", "Step by the device",
		"/opt/env/bin/python", "checkpointing,compile=on",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	for _, wrong := range []string{"<script>alert", "<b>net"} {
		if strings.Contains(text, wrong) {
			t.Errorf("the page has %q, which is not escaped", wrong)
		}
	}
}

func TestPyTorchCSVHasEveryCounter(t *testing.T) {
	run := load(t, "pytorch")
	run.Dir = t.TempDir()
	if err := of(t, run).WriteAll(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(run.Dir, "trials.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(data))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	cell := func(trial int, column string) string {
		at := slices.Index(rows[0], column)
		if at < 0 {
			t.Fatalf("no column %s in %q", column, rows[0])
		}
		return rows[trial][at]
	}
	for _, c := range []struct {
		trial        int
		column, want string
	}{
		{13, "reserved_peak_bytes", "838860800"}, {13, "reserved_before_bytes", "2097152"}, {13, "allocated_after_bytes", "0"},
		{13, "other_processes_peak_bytes", "209715200"}, {3, "allocator_retries", "3"}, {5, "skipped_steps", "2"}, {7, "reserved_peak_bytes", ""},
		{13, "median_step_seconds", "0.14"}, {13, "median_device_step_seconds", "0.1372"},
	} {
		if got := cell(c.trial, c.column); got != c.want {
			t.Errorf("trial %d: %s is %q, want %q", c.trial, c.column, got, c.want)
		}
	}
}

func TestPyTorchFilesHaveSafeNames(t *testing.T) {
	run := load(t, "pytorch")
	figures, err := reports.Figures(run)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range figures {
		if strings.ContainsAny(f.Name, "/:\\ ") {
			t.Errorf("figure %q", f.Name)
		}
	}
}
