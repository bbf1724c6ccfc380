//go:build unix

package harness_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autotune/harness"
)

// TestFoldersThatCannotBeUsed starts runs in folders where none can start.
func TestFoldersThatCannotBeUsed(t *testing.T) {
	w := workload()
	for _, c := range []struct {
		name string
		dir  func(t *testing.T) string
		code int
		want string
	}{
		{"holds a run", func(t *testing.T) string {
			dir := t.TempDir()
			write(t, dir, `{"v":1,"record":"header"}`+"\n")
			return dir
		}, harness.ExitUsage, "holds a run already: go on with it by: autotune resume"},
		{"is a file", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "file")
			if err := os.WriteFile(path, nil, 0o666); err != nil {
				t.Fatal(err)
			}
			return path
		}, harness.ExitUsage, "choose another folder with --out"},
		{"journal is a folder", func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, harness.JournalName), 0o777); err != nil {
				t.Fatal(err)
			}
			return dir
		}, harness.ExitUsage, "cannot be written"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := c.dir(t)
			_, err := harness.Bench(context.Background(), harness.Options{Dir: dir, Plan: plan(t, benchSettings("8"), w), Workload: w})
			if exitCode(err) != c.code || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestRunsThatCannotBeResumed reads journals that are damaged or not ours.
func TestRunsThatCannotBeResumed(t *testing.T) {
	header := `{"v":1,"record":"header","settings":{"command":"bench","batch":"8","precision":["fp32"],"repeat":1},"model":"other","engine":"fake","device":"cpu"}` + "\n"
	trial := `{"v":1,"record":"trial","trial":1,"micro_batch":8,"accumulation_steps":1}` + "\n"
	answer := `{"v":1,"record":"recommendation","trial":1}` + "\n"
	for _, c := range []struct{ name, journal, want string }{
		{"no header", trial + trial, "line 1: a journal has one header, and it is the first record"},
		{"two headers", header + header + trial, "line 2: a journal has one header"},
		{"newer version", strings.Replace(header, `"v":1`, `"v":2`, 1), "line 1: written by a newer autotune (version 2 of the journal; this one reads up to 1)"},
		{"newer trial", header + strings.Replace(trial, `"v":1`, `"v":7`, 1), "line 2: written by a newer autotune"},
		{"no version", `{"record":"header"}` + "\n" + trial, "line 1: no record of a run"},
		{"garbage inside", header + "garbage\n" + trial, "line 2: no record of a run"},
		{"unknown record", header + `{"v":1,"record":"song"}` + "\n", `line 2: unknown record "song"`},
		{"same trial twice", header + trial + trial, "line 3: trial 1 comes after trial 1"},
		{"impossible trial", header + strings.Replace(trial, `:8`, `:0`, 1), "line 2: trial 1 has micro-batch 0"},
		{"impossible memory", header + strings.Replace(trial, `:8`, `:8,"memory":{"peak_bytes":{"resident":-1}}`, 1), "line 2: trial 1 has a negative resident memory"},
		{"recommendation of no trial", header + trial + strings.Replace(answer, `:1}`, `:2}`, 1), "line 3: the recommendation rests on trial 2"},
		{"trial after the recommendation", header + trial + answer + strings.Replace(trial, `"trial":1`, `"trial":2`, 1), `line 4: a "trial" after the recommendation`},
		{"two recommendations", header + trial + answer + answer, `line 4: a "recommendation" after the recommendation`},
		{"only a torn line", header[:20], "no whole first line"},
		{"empty", "", "no whole first line"},
		{"unknown command", strings.Replace(header, `"bench"`, `"guess"`, 1) + trial, "its settings are damaged (unknown command"},
		{"sizes that are none", strings.Replace(header, `"batch":"8"`, `"batch":"0"`, 1) + trial, "its settings are damaged (--batch"},
		{"unknown objective", strings.Replace(header, `"bench"`, `"tune","objective":"speed"`, 1), `its settings are damaged (goal of the search: unknown objective "speed"`},
		{"another model", header + trial, "the run is of other on fake (cpu)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, c.journal)
			_, err := harness.Resume(context.Background(), harness.Options{Dir: dir, Workload: workload()})
			if exitCode(err) != harness.ExitUsage || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %s", err, c.want)
			}
			if got := readFile(t, filepath.Join(dir, harness.JournalName)); got != c.journal {
				t.Errorf("the journal was changed to %q", got)
			}
		})
	}
	if _, err := harness.ReadRun(filepath.Join(t.TempDir(), "nowhere")); exitCode(err) != harness.ExitUsage || !strings.Contains(err.Error(), "no run in") {
		t.Errorf("no run: %v", err)
	}
}

// TestResumeOfACopy refuses to go on in a file that is not a run's journal by its
// name, and leaves the folder as it is.
func TestResumeOfACopy(t *testing.T) {
	run, _ := one(t, "", benchSettings("8"))
	dir := t.TempDir()
	copied := filepath.Join(dir, "copy.jsonl")
	if err := os.WriteFile(copied, []byte(readFile(t, filepath.Join(run.Dir, harness.JournalName))), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := harness.Resume(context.Background(), harness.Options{Dir: copied, Workload: workload()})
	if exitCode(err) != harness.ExitUsage || !strings.Contains(err.Error(), copied) || !strings.Contains(err.Error(), harness.JournalName) {
		t.Errorf("error %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 {
		t.Errorf("the folder holds %v, %v", files, err)
	}
}

// TestReadRunTakesEither reads by the folder and by the journal.
func TestReadRunTakesEither(t *testing.T) {
	run, _ := one(t, "", benchSettings("8"))
	for _, path := range []string{run.Dir, filepath.Join(run.Dir, harness.JournalName)} {
		if read, err := harness.ReadRun(path); err != nil || read.Dir != run.Dir || len(read.Trials) != 1 {
			t.Errorf("%s: %+v, %v", path, read, err)
		}
	}
}
