package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autotune/workloads/simulated/study"
)

func TestReplaceTables(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name, before, after string
		write               func(*bytes.Buffer) error
		err                 string
	}{
		{"replaced", "text\n<!-- tables -->\nold\n", "text\n<!-- tables -->\nnew\n",
			func(w *bytes.Buffer) error { _, err := fmt.Fprintln(w, "new"); return err }, ""},
		{"no marker", "text\n", "text\n", nil, "no line"},
		{"broken", "text\n<!-- tables -->\nold\n", "text\n<!-- tables -->\nold\n",
			func(*bytes.Buffer) error { return broken }, "broken"},
	} {
		file := filepath.Join(t.TempDir(), "search.md")
		if err := os.WriteFile(file, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		err := replaceTables(file, c.write)
		if got := fmt.Sprint(err); c.err == "" && err != nil || c.err != "" && !strings.Contains(got, c.err) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.err)
		}
		got, err := os.ReadFile(file)
		if err != nil || string(got) != c.after {
			t.Errorf("%s: the file is %q (%v), want %q", c.name, got, err, c.after)
		}
	}
	if err := replaceTables(filepath.Join(t.TempDir(), "none.md"), nil); err == nil {
		t.Error("a file that is missing was replaced")
	}
}

func TestTable(t *testing.T) {
	var out bytes.Buffer
	tab := table{head: []string{"strategy", "trials"}}
	tab.add("ours", number(8))
	tab.add("theirs", percent(0.5))
	tab.write(&out, "Title:")
	want := "\nTitle:\n\n| strategy | trials |\n| --- | ---: |\n| ours | 8 |\n| theirs | 50.0% |\n"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

func TestBorderRow(t *testing.T) {
	finds := []study.Find{
		{Border: 10, Size: 10, Trials: 4, Failures: 1, Seconds: 2, Timing: 2},
		{Border: 10, Size: 5, Trials: 6, Failures: 3, Seconds: 2, Timing: 2},
		{Border: 10, Size: 12, Trials: 8, Failures: 2, Seconds: 2, Timing: 2},
	}
	reference := []study.Find{{Seconds: 4}, {Seconds: 4}, {Seconds: 4}}
	got := strings.Join(borderRow("ours", finds, reference), " | ")
	want := "ours | 33.3% | 33.3% | 1 | 0.5 | 6 | 8 | 8 | 2 | 0.5 (1)"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
