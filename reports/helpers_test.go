package reports_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"autotune/harness"
	"autotune/reports"
)

var update = flag.Bool("update", false, "write the golden files anew")

// load reads a run of testdata. Its folder is given without testdata, so that
// golden files name no path of a machine.
func load(t testing.TB, name string) *harness.Run {
	t.Helper()
	run, err := harness.ReadRun(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	run.Dir = name
	return run
}

// golden compares a text with testdata/NAME, or writes that with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (run with -update to accept; - want, + got):\n%s", path, diff)
	}
}

// of is the report of a run.
func of(t *testing.T, run *harness.Run) reports.Report {
	t.Helper()
	r, err := reports.New(run)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
