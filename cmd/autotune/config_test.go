package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"autotune/harness"
)

// searchFlags are the flags of tune over settings of their own.
func searchFlags() (*pflag.FlagSet, *harness.Settings) {
	s := defaultSettings(harness.CommandTune)
	f := pflag.NewFlagSet("tune", pflag.ContinueOnError)
	addTrainingFlags(f, &s)
	addSearchFlags(f, &s)
	return f, &s
}

func writeFile(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestConfigSaysWhatFlagsSay gives the same settings on the command line and in a file.
func TestConfigSaysWhatFlagsSay(t *testing.T) {
	fromFlags, want := searchFlags()
	if err := fromFlags.Parse(strings.Fields(`--model gpt --set layers=2 --set width=64 --engine gorgonia --device cpu
		--precision fp32,fp64 --batch 1..8 --accumulation 1,2,4 --global-batch any --optimizer adamw --memory-limit 90% --trial-timeout 90s
		--seed 18446744073709551615 --input 3,64,64 --classes 10 --python /opt/python --knobs checkpointing,compile=on --objective memory --headroom 64MiB --max-trials 9 --max-time 1h30m --soak 0s`)); err != nil {
		t.Fatal(err)
	}
	fromFile, got := searchFlags()
	if err := applyConfig(writeFile(t, `
model: gpt
set: {layers: 2, width: "64"}
engine: gorgonia
device: 'cpu'
precision: [fp32, fp64]
batch: 1..8
accumulation:
  - 1
  - 2
  - 4
global-batch: any
optimizer: adamw
memory-limit: 90%
trial-timeout: 90s
seed: 18446744073709551615
input: [3, 64, 64]
classes: 10
python: /opt/python
knobs: [checkpointing, compile=on]
objective: memory
headroom: 64MiB
max-trials: 9
max-time: 1h30m
soak: 0s
`), fromFile); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the file says something else (-flags +file):\n%s", diff)
	}
}

// TestExampleFile holds that the documented file says what its comments and names say.
func TestExampleFile(t *testing.T) {
	flags, s := searchFlags()
	if err := applyConfig("../../docs/examples/mlp.yaml", flags); err != nil {
		t.Fatal(err)
	}
	same, want := searchFlags()
	if err := same.Parse(strings.Fields(`--model mlp --set width=256 --engine gorgonia --optimizer sgd --global-batch 64 --batch 1..64
		--memory-limit 512MiB --headroom 10% --max-time 1m --soak 2s`)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("the example differs from the flags (-flags +file):\n%s", diff)
	}
}

func TestConfigFlagWins(t *testing.T) {
	flags, s := searchFlags()
	if err := flags.Parse([]string{"--batch", "4", "--set", "width=8"}); err != nil {
		t.Fatal(err)
	}
	if err := applyConfig(writeFile(t, "batch: 1..8\nset: {width: 64, layers: 2}\nmodel: gpt\n"), flags); err != nil {
		t.Fatal(err)
	}
	if s.Batch != "4" || s.Model != "gpt" {
		t.Errorf("batch %s, model %s", s.Batch, s.Model)
	}
	if diff := cmp.Diff(map[string]string{"width": "8", "layers": "2"}, s.Set); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

// FuzzConfig holds that any file is taken or refused with an error that names
// it and is a usage error, and that what is taken passed the flags' own checks.
func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "model: mlp", "model: [a, b]", "set: {a: 1}", "set: 3", "batch: 8..4", "- a", "model: &a mlp\noptimizer: *a",
		"<<: {model: mlp}", "a: b: c", "model: !!binary aGVsbG8=", "? [a]\n: b", "model: |\n  mlp\n", "---\n---\n", "\xff", "set:\n  {}: 1",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		flags, s := searchFlags()
		path := writeFile(t, content)
		err := applyConfig(path, flags)
		if err == nil {
			if s.Engine == "" || len(s.Precision) == 0 {
				t.Errorf("%q emptied a setting: %+v", content, s)
			}
			return
		}
		if exitCode(err) != harness.ExitUsage || !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%q: %v", content, err)
		}
	})
}
