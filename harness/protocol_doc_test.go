//go:build unix

package harness_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"autotune/harness"
)

// TestWorkerOfTheDocumentation runs the worker that docs/protocol.md shows.
func TestWorkerOfTheDocumentation(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	_, rest, _ := strings.Cut(readFile(t, filepath.Join("..", "docs", "protocol.md")), "```python\n")
	program, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/protocol.md has no worker in Python")
	}
	path := filepath.Join(t.TempDir(), "worker.py")
	if err := os.WriteFile(path, []byte(program), 0o666); err != nil {
		t.Fatal(err)
	}
	w := workload()
	w.Command = []string{python, path}
	s := benchSettings("4,8")
	s.MemoryLimit = "1GiB"
	run, err := harness.Bench(context.Background(), harness.Options{Dir: t.TempDir(), Plan: plan(t, s, w), Workload: w})
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range run.Judged() {
		if trial.Status != "ok" || trial.PeakBytes < MB {
			t.Errorf("trial %+v", trial)
		}
	}
	if len(run.Trials) != 2 {
		t.Errorf("%d trials", len(run.Trials))
	}
}
