package main

import (
	"os/exec"
	"testing"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"
)

func TestDurations(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64 // below 0: refused
	}{
		{"90s", 90}, {"10m", 600}, {"1h30m", 5400}, {"250ms", 0.25}, {"0", 0}, {"0s", 0},
		{"10", -1}, {"", -1}, {"-1s", -1}, {"soon", -1}, {"1 m", -1},
	} {
		value := -1.0
		err := seconds{value: &value}.Set(c.text)
		if (err == nil) != (c.want >= 0) || value != c.want {
			t.Errorf("%q gives %v and %v, want %v", c.text, value, err, c.want)
		}
	}
}

// TestValuesReadThemselves holds that a flag's text, where it has one, sets the same value again.
func TestValuesReadThemselves(t *testing.T) {
	flags, _ := searchFlags()
	if err := flags.Parse([]string{"--model", "mlp", "--batch", "1..8", "--accumulation", "1,2", "--global-batch", "8", "--optimizer", "sgd",
		"--memory-limit", "1GiB", "--headroom", "1%", "--set", "width=3", "--input", "3,32,32", "--classes", "10", "--python", "python3", "--device", "cpu",
		"--knobs", "checkpointing,compile=on"}); err != nil {
		t.Fatal(err)
	}
	flags.VisitAll(func(f *pflag.Flag) {
		before := f.Value.String()
		if err := f.Value.Set(before); err != nil {
			t.Errorf("--%s %s: %v", f.Name, before, err)
		}
		if after := f.Value.String(); after != before {
			t.Errorf("--%s: %s became %s", f.Name, before, after)
		}
		if f.Value.Type() == "" || f.Usage == "" {
			t.Errorf("--%s has no type or no help", f.Name)
		}
	})
}

// TestShellWord holds that a shell reads back the word that was meant.
func TestShellWord(t *testing.T) {
	if word := shellWord("autotune-runs/mlp-20260102T150405Z"); word != "autotune-runs/mlp-20260102T150405Z" {
		t.Errorf("a plain word is quoted: %s", word)
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no sh")
	}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ -~äö\n\t]{0,12}`).Draw(t, "word")
		output, err := exec.Command("sh", "-c", "printf %s "+shellWord(word)).Output()
		if err != nil || string(output) != word {
			t.Fatalf("%q came back as %q (%v)", word, output, err)
		}
	})
}
