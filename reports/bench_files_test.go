package reports_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"maps"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
	"pgregory.net/rapid"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/reports"
)

// written writes a run's files into a new folder and gives the folder.
func written(t *testing.T, run *harness.Run) string {
	t.Helper()
	run.Dir = t.TempDir()
	if err := of(t, run).WriteAll(); err != nil {
		t.Fatal(err)
	}
	return run.Dir
}

func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func benchText(t rapid.TB, run *harness.Run) string {
	t.Helper()
	report, err := reports.New(run)
	if err != nil {
		t.Fatal(err)
	}
	text, err := report.BenchText()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// benchmarks reads a bench.txt with the library of benchstat; it must have nothing that the format does not.
func benchmarks(t rapid.TB, text string) (results []*benchfmt.Result, units benchfmt.UnitMetadataMap) {
	t.Helper()
	r := benchfmt.NewReader(strings.NewReader(text), "bench.txt")
	for r.Scan() {
		switch record := r.Result().(type) {
		case *benchfmt.Result:
			results = append(results, record.Clone())
		case *benchfmt.SyntaxError:
			t.Error(record)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return results, r.Units()
}

func TestBenchFiles(t *testing.T) {
	run := load(t, "bench-lost")
	slowing := &run.Trials[0]
	slowing.Knobs, slowing.WallSeconds = "checkpointing=a|b", 10
	for len(slowing.StepSeconds) < 20 {
		slowing.StepSeconds = append(slowing.StepSeconds, 0.12+0.01*float64(len(slowing.StepSeconds)))
		slowing.Losses, slowing.Samples = append(slowing.Losses, slowing.Losses[0]), append(slowing.Samples, slowing.Samples[0])
		slowing.StepsRun++
	}
	last := &run.Trials[len(run.Trials)-1]
	last.Failure = &harness.Failure{Type: "RuntimeError", Phase: "forward", Text: "no `weight` | bias\nat line 3"}
	dir := written(t, run)
	for _, name := range []string{"bench.txt", "bench.csv", "bench.md"} {
		golden(t, "bench-lost/"+name, readFile(t, dir, name))
	}
	want, err := of(t, run).JSON()
	if err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, dir, "bench.json"); got != string(want) {
		t.Errorf("bench.json is not what --json prints:\n%s", got)
	}
}

func TestBenchFilesOfARunThatMeasuredNothing(t *testing.T) {
	run := load(t, "bench")
	run.Trials = run.Trials[6:8] // both do not fit
	dir := written(t, run)
	if results, _ := benchmarks(t, readFile(t, dir, "bench.txt")); len(results) != 0 {
		t.Errorf("%d results", len(results))
	}
	if rows, err := csv.NewReader(strings.NewReader(readFile(t, dir, "bench.csv"))).ReadAll(); err != nil || len(rows) != 3 {
		t.Errorf("bench.csv: %v, %v", rows, err)
	}
	if text := readFile(t, dir, "bench.md"); !strings.Contains(text, "0 of 2 configurations ran") || !strings.Contains(text, "| oom") {
		t.Errorf("bench.md:\n%s", text)
	}
	run.Trials = nil
	dir = written(t, run)
	if text := readFile(t, dir, "bench.md"); !strings.Contains(text, "0 of 0 configurations ran") {
		t.Errorf("bench.md:\n%s", text)
	}
}

func TestASearchHasNoBenchFiles(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(written(t, load(t, "tune")), "bench.*"))
	if err != nil || len(found) > 0 {
		t.Errorf("%v, %v", found, err)
	}
}

// TestBenchTextHasEveryRepeat holds bench.txt against the journal.
func TestBenchTextHasEveryRepeat(t *testing.T) {
	run := load(t, "bench")
	results, units := benchmarks(t, benchText(t, run))
	var want, got []string
	for _, trial := range run.Trials {
		if trial.Failure == nil {
			want = append(want, fmt.Sprintf("batch=%d accumulation=%d steps=%d peak=%d", trial.MicroBatch, trial.Accumulation, len(trial.StepSeconds), trial.Memory.Peak[protocol.Resident]))
		}
	}
	for _, r := range results {
		parts := keysOf(t, r.Name)
		peak, _ := r.Value("peak-bytes")
		got = append(got, fmt.Sprintf("batch=%s accumulation=%s steps=%d peak=%d", parts["batch"], parts["accumulation"], r.Iters, int64(peak)))
		seconds, _ := r.Value("sec/op")
		rate, _ := r.Value("samples/sec")
		if samples := product(t, parts["batch"], parts["accumulation"]); seconds <= 0 || math.Abs(rate*seconds-samples) > 1e-9*samples {
			t.Errorf("%s: %v sec/op and %v samples/sec are not a step of %v samples", r.Name, seconds, rate, samples)
		}
		for key, value := range map[string]string{"goos": "linux", "cpu": "AMD EPYC 9B14", "engine": "gorgonia", "device": "cpu", "optimizer": "momentum", "peak-of": "resident"} {
			if r.GetConfig(key) != value {
				t.Errorf("%s is %q, want %q", key, r.GetConfig(key), value)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("repeats (- journal, + bench.txt):\n%s", diff)
	}
	for unit, direction := range map[string]int{"sec/op": -1, "samples/sec": 1, "peak-bytes": -1} {
		if got := units.GetBetter(unit); got != direction {
			t.Errorf("better of %s is %d, want %d", unit, got, direction)
		}
	}
	if class := benchunit.ClassOf("peak-bytes"); class != benchunit.Binary {
		t.Errorf("peak-bytes is scaled as %v", class)
	}
}

// pair is a key and its value in a name.
type pair struct{ Key, Value string }

// pairsOf takes a name apart; the keys and values are as they were before they were escaped, and the number
// of cores is the last, without a key.
func pairsOf(t rapid.TB, name benchfmt.Name) []pair {
	t.Helper()
	plain := func(text string) string {
		got, err := url.PathUnescape(text)
		if err != nil {
			t.Error(err)
		}
		return got
	}
	var pairs []pair
	_, parts := name.Parts()
	for _, part := range parts {
		if key, value, keyed := strings.Cut(string(part), "="); keyed {
			pairs = append(pairs, pair{plain(strings.TrimPrefix(key, "/")), plain(value)})
		} else {
			pairs = append(pairs, pair{"", string(part)})
		}
	}
	return pairs
}

// keysOf are a name's values by key.
func keysOf(t *testing.T, name benchfmt.Name) map[string]string {
	t.Helper()
	values := map[string]string{}
	for _, p := range pairsOf(t, name) {
		values[p.Key] = p.Value
	}
	return values
}

func product(t *testing.T, a, b string) float64 {
	t.Helper()
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX != nil || errY != nil {
		t.Fatal(errX, errY)
	}
	return float64(x * y)
}

// namesComeBack gives the run bench another model, option and knob, and reads the names of what it writes.
func namesComeBack(t rapid.TB, run *harness.Run, model string, option, knob pair) {
	t.Helper()
	run.Header.Model = model
	run.Header.Settings.Set = map[string]string{option.Key: option.Value}
	for i := range run.Trials {
		run.Trials[i].Knobs = knob.Key + "=" + knob.Value
	}
	results, _ := benchmarks(t, benchText(t, run))
	if len(results) != 36 {
		t.Errorf("%d results, want 36", len(results))
	}
	first := []pair{{"model", model}, {"precision", "fp32"}, {"batch", "8"}, {"accumulation", "1"}, option, knob, {"", "-2"}}
	for _, r := range results[:min(6, len(results))] {
		if got := pairsOf(t, r.Name); string(r.Name.Base()) != "Train" || !slices.Equal(got, first) {
			t.Errorf("%q came back from %s, want %q", got, r.Name, first)
		}
	}
}

func TestBenchNamesComeBack(t *testing.T) {
	run := load(t, "bench")
	for _, c := range []struct {
		model        string
		option, knob pair
	}{
		{"resnet20", pair{"width", "16"}, pair{"compile", "on"}},
		{"train.py:build", pair{"layers", ""}, pair{"checkpointing", "layers.0+layers.1"}},
		{"/home/a b/train.py:build", pair{"hidden size", "1 2\t3"}, pair{"compile", "-8"}},
		{"transformers:org/name-7", pair{"path", "a/b=c/d"}, pair{"model", "again"}},
		{"caf\u00e9\u2028 50%25\n", pair{"batch", "="}, pair{"x", "100%"}},
	} {
		namesComeBack(t, run, c.model, c.option, c.knob)
	}
}

// TestAnyBenchNameComesBack has any text as the model and the option, and what a knob can be.
func TestAnyBenchNameComesBack(t *testing.T) {
	run := load(t, "bench")
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.String()
		knob := rapid.StringMatching(`[^=,]+`)
		namesComeBack(r, run, text.Draw(r, "model"), pair{text.Draw(r, "option"), text.Draw(r, "value")}, pair{knob.Draw(r, "knob"), knob.Draw(r, "choice")})
	})
}

// TestBenchNamesHaveEveryKnob has a knob with and without it in one run.
func TestBenchNamesHaveEveryKnob(t *testing.T) {
	run := load(t, "bench")
	run.Trials[0].Knobs = "compile=on"
	results, _ := benchmarks(t, benchText(t, run))
	seen := map[string]int{}
	for _, r := range results {
		values := keysOf(t, r.Name)
		seen[values["compile"]]++
	}
	if want := map[string]int{"on": 1, "off": 35}; !maps.Equal(seen, want) {
		t.Errorf("compile is %v, want %v", seen, want)
	}
}

func TestBenchFileConfiguration(t *testing.T) {
	run := load(t, "bench")
	run.Header.DeviceName = "Card\nNo: 1"
	run.Header.Settings.Input, run.Header.Settings.Classes = "3, 32,32", 10
	run.Header.Versions = map[string]string{"torch": "2.15.0+cpu (/usr/bin/python3)", "My Lib": "1", "9lib": "2", "none": ""}
	results, _ := benchmarks(t, benchText(t, run))
	got := map[string]string{}
	for _, c := range results[len(results)-1].Config {
		got[c.Key] = string(c.Value)
	}
	want := map[string]string{
		"goos": "linux", "goarch": "amd64", "cpu": "AMD EPYC 9B14", "engine": "gorgonia", "device": "cpu", "device-name": "Card No: 1",
		"optimizer": "momentum", "input": "3, 32,32", "classes": "10", "peak-of": "resident", "torch": "2.15.0+cpu", "my-lib": "1", "x-9lib": "2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("- want, + got:\n%s", diff)
	}
}

// benchstat is what golang.org/x/perf/cmd/benchstat of go.mod prints. It ends with exit code 0 after an
// error too, so nothing may be in its standard error.
func benchstat(t *testing.T, arguments ...string) string {
	t.Helper()
	var out, errors bytes.Buffer
	command := exec.Command("go", append([]string{"tool", "benchstat"}, arguments...)...)
	command.Stdout, command.Stderr = &out, &errors
	if err := command.Run(); err != nil || errors.Len() > 0 {
		t.Fatalf("benchstat %v: %v\n%s", arguments, err, errors.String())
	}
	return out.String()
}

// benchFile is a file with a run's bench.txt.
func benchFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bench.txt")
	if err := os.WriteFile(path, []byte(benchText(t, load(t, name))), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// statRows are the rows of benchstat's tables, by unit and name: what stands behind the name.
func statRows(text string) map[string]map[string]string {
	rows := map[string]map[string]string{}
	unit := ""
	for line := range strings.Lines(text) {
		if heading := regexp.MustCompile(`│\s+(sec/op|samples/sec|peak-bytes)\s`).FindStringSubmatch(line); heading != nil {
			unit = heading[1]
			rows[unit] = map[string]string{}
		}
		if name, rest, found := strings.Cut(line, " "); found && strings.HasPrefix(name, "Train") {
			rows[unit][name] = strings.TrimSpace(rest)
		}
	}
	return rows
}

// ranNames are the names of what ran in the run bench of testdata.
func ranNames() []string {
	var names []string
	for _, shape := range []string{"8/accumulation=1", "8/accumulation=2", "16/accumulation=1", "16/accumulation=2", "32/accumulation=1", "32/accumulation=2"} {
		names = append(names, "Train/model=resnet20/precision=fp32/batch="+shape+"-2")
	}
	return names
}

func TestBenchstatReadsOneRun(t *testing.T) {
	file := benchFile(t, "bench")
	text := benchstat(t, file)
	rows := statRows(text)
	for unit, value := range map[string]string{"sec/op": `^\d+\.\d+m ± +\d+%`, "samples/sec": `^\d+\.\d+ ± +\d+%`, "peak-bytes": `^\d+\.\d+Mi ± +\d+%`} {
		for _, name := range ranNames() {
			if !regexp.MustCompile(value).MatchString(rows[unit][name]) {
				t.Errorf("%s of %s is %q", unit, name, rows[unit][name])
			}
		}
		if len(rows[unit]) != len(ranNames()) {
			t.Errorf("%s has %d rows, want %d", unit, len(rows[unit]), len(ranNames()))
		}
	}
	if !strings.Contains(text, "engine: gorgonia\n") || strings.Contains(text, "need >=") {
		t.Errorf("no engine, or too few repeats for an interval:\n%s", text)
	}
}

func TestBenchstatTakesKeysApart(t *testing.T) {
	file := benchFile(t, "bench")
	text := benchstat(t, "-col", "/accumulation", "-row", ".name,/batch", "-filter", "/batch:(8 OR 32) .unit:samples/sec", file)
	for batch, rows := range map[string]int{"8": 1, "16": 0, "32": 1} {
		row := regexp.MustCompile(`(?m)^Train ` + batch + ` +\d+\.\d+ ± \d+% +\d+\.\d+ ± \d+% +\S+ \(p=\S+ n=6\)$`)
		if got := len(row.FindAllString(text, -1)); got != rows {
			t.Errorf("batch %s has %d rows, want %d:\n%s", batch, got, rows, text)
		}
	}
}

func TestBenchstatComparesTwoRuns(t *testing.T) {
	before := benchFile(t, "bench")
	slower := benchFile(t, "bench-slower")
	same := benchFile(t, "bench-same")
	for _, c := range []struct {
		after string
		want  map[string]string // by unit, the end of a row
	}{
		{slower, map[string]string{"sec/op": `\+1\d\.\d+% \(p=0\.002 n=6\)$`, "samples/sec": ` -1\d\.\d+% \(p=0\.002 n=6\)$`, "peak-bytes": `\+1\d\.\d+% \(p=0\.002 n=6\)$`}},
		{same, map[string]string{"sec/op": `~ \(p=\S+ n=6\)$`, "samples/sec": `~ \(p=\S+ n=6\)$`, "peak-bytes": `~ \(p=\S+ n=6\)$`}},
	} {
		text := benchstat(t, "before="+before, "after="+c.after)
		rows := statRows(text)
		for unit, end := range c.want {
			for _, name := range ranNames() {
				if !regexp.MustCompile(end).MatchString(rows[unit][name]) {
					t.Errorf("%s of %s is %q, want %s\n%s", unit, name, rows[unit][name], end, text)
				}
			}
		}
	}
}
