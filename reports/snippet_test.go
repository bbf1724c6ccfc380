package reports_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"autotune/harness"
	"autotune/reports"
)

// snippetKnobs are knobs of which each has lines of its own in a snippet.
var snippetKnobs = []string{"checkpointing=on", "checkpointing=0+1", "compile=on", "checkpointing=on,compile=on,expandable=on"}

// settings is a recommendation with micro-batches of 4.
func settings(precision, knobs string, accumulation int) *harness.Recommendation {
	return &harness.Recommendation{Precision: precision, Knobs: knobs, MicroBatch: 4, Accumulation: accumulation, GlobalBatch: 4 * accumulation}
}

func TestPyTorchSnippet(t *testing.T) {
	var all strings.Builder
	add := func(r *harness.Recommendation) {
		name := r.Precision
		if r.Knobs != "" {
			name += " [" + r.Knobs + "]"
		}
		all.WriteString("# " + name + "\n" + reports.PyTorchSnippet(r) + "\n")
	}
	for _, precision := range []string{"fp64", "fp32", "tf32", "bf16", "fp16"} {
		add(settings(precision, "", 3))
	}
	add(settings("fp32", "", 1))
	for _, knobs := range snippetKnobs {
		add(settings("fp16", knobs, 1))
	}
	bert := settings("bf16", "checkpointing=bert.encoder.layer", 1)
	bert.Model = "transformers:bert"
	add(bert)
	golden(t, "snippets.py", all.String())
}

// python is the interpreter with the newest torch.
func python(t *testing.T) string {
	t.Helper()
	path := os.Getenv("AUTOTUNE_PYTHON_NEW")
	if path == "" {
		if os.Getenv("AUTOTUNE_REQUIRE_PYTHON") != "" {
			t.Fatal("AUTOTUNE_PYTHON_NEW names no interpreter, and AUTOTUNE_REQUIRE_PYTHON is set")
		}
		t.Skip("AUTOTUNE_PYTHON_NEW names no interpreter with torch")
	}
	return path
}

// TestPyTorchSnippetTrains runs snippets on a small model and holds the gradient of every step
// against that of one pass over the step's samples: see testdata/run_snippets.py.
func TestPyTorchSnippetTrains(t *testing.T) {
	path := python(t)
	type snippet struct {
		Name, Program string
		Tolerance     float64 // of the gradient, relative; 0: the program is read and not run
	}
	const exact, rounded = 1e-6, 5e-2 // autocast rounds
	var list []snippet
	for _, c := range []struct {
		settings  *harness.Recommendation
		tolerance float64
	}{
		{settings("fp32", "", 3), exact},
		{settings("fp64", "", 3), exact},
		{settings("tf32", "", 2), exact}, // as fp32 on a CPU
		{settings("fp32", "", 1), exact},
		{settings("bf16", "", 3), rounded},
		{settings("fp16", "", 3), rounded},
		{settings("fp32", "checkpointing=on,expandable=on", 3), exact},
		{settings("fp32", "checkpointing=0+1", 3), exact},
		{settings("fp32", "compile=on", 3), 0},
	} {
		name := fmt.Sprintf("%s [%s] x%d", c.settings.Precision, c.settings.Knobs, c.settings.Accumulation)
		list = append(list, snippet{name, reports.PyTorchSnippet(c.settings), c.tolerance})
	}
	input, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path, "testdata/run_snippets.py")
	command.Stdin = bytes.NewReader(input)
	command.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join("..", "workloads", "pytorch"), "PYTHONDONTWRITEBYTECODE=1")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
