package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"autotune/harness/failure"
)

// TestBorder shows a border that torch itself meets: a process in which a trial of the worker takes P bytes of torch's
// allocator runs just so where the counter lets it have P, and ends with torch's own error where it may have P - 1. Where
// the worker says what it takes of the allocator, which is with torch 2, that is P too.
func TestBorder(t *testing.T) {
	readSources(t)
	counter := compiledCounter(t)
	for _, variable := range []string{"AUTOTUNE_PYTHON_OLD", "AUTOTUNE_PYTHON_NEW"} {
		t.Run(variable, func(t *testing.T) {
			python := os.Getenv(variable)
			if python == "" {
				skip(t, variable+" is not set; it names a Python interpreter with torch")
			}
			free := oneTrial(t, python, counter, "")
			if free.Op != "done" || free.Counted == 0 || len(free.Losses) == 0 {
				t.Fatalf("without a limit: %+v", free)
			}
			if allocated, told := free.Memory.Peak["allocated"]; told && allocated != free.Counted {
				t.Errorf("the worker says %d bytes of the allocator, the counter %d", allocated, free.Counted)
			}
			at := oneTrial(t, python, counter, fmt.Sprint(free.Counted))
			if at.Op != "done" || at.Refused != 0 || at.Counted != free.Counted || !slices.Equal(at.Losses, free.Losses) {
				t.Errorf("with its peak as the limit: %+v; without one: %+v", at, free)
			}
			below := oneTrial(t, python, counter, fmt.Sprint(free.Counted-1))
			row := failure.Explain(failure.Seen{Type: below.Type, Phase: below.Phase, Text: below.Text})
			if below.Op != "failed" || below.Refused == 0 || row.Name != "torch cpu" || row.Means != failure.Memory {
				t.Errorf("with a limit of a byte less than %d: row %q, %+v", free.Counted, row.Name, below)
			}
		})
	}
}

// ended is what testdata/one_trial.py says.
type ended struct {
	Op, Type, Phase, Text string
	Losses                []float64
	Memory                struct {
		Peak map[string]int64 `json:"peak_bytes"` // the worker's own counters, in bytes
	}
	Counted int64 // the preloaded counter's peak, in bytes
	Refused int   // times that it refused
}

// oneTrial runs the script in a fresh process under a limit in bytes; empty: there is none.
func oneTrial(t *testing.T, python, counter, limit string) ended {
	t.Helper()
	worker, err := filepath.Abs("../../workloads/pytorch")
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(python, "-W", "ignore", "testdata/one_trial.py")
	c.Env = append(os.Environ(), "LD_PRELOAD="+counter, "DEVLIMIT="+limit, "PYTHONDONTWRITEBYTECODE=1",
		"PYTHONPATH="+worker+":"+filepath.Join(worker, "tests"))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var e ended
	if err := json.Unmarshal(out, &e); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return e
}

// compiledCounter is the path of the library to preload.
func compiledCounter(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		skip(t, "the counter needs gcc: "+err.Error())
	}
	counter := filepath.Join(t.TempDir(), "devlimit.so")
	compile := compileCounter(".", counter)
	if out, err := exec.Command(compile[0], compile[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return counter
}

// readSources reads what the processes run, so that a change of it makes go test run again what it has in its cache.
func readSources(t *testing.T) {
	t.Helper()
	for _, pattern := range []string{"devlimit.c", "testdata/*.py", "../../workloads/pytorch/*/*.py"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s (%v)", pattern, err)
		}
		for _, file := range files {
			if _, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// skip leaves the test out, and fails it where everything has to be there.
func skip(t *testing.T, why string) {
	t.Helper()
	if os.Getenv("AUTOTUNE_REQUIRE_PYTHON") == "1" {
		t.Fatal(why)
	}
	t.Skip(why)
}
