package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"autotune/harness"
)

// bench runs the binary.
type bench struct{ binary, folder string }

// run benches the configuration into a folder of that name, and gives it.
func (b bench) run(name string, arguments ...string) (string, error) {
	out := filepath.Join(b.folder, name)
	command := exec.Command(b.binary, append([]string{"bench", "--model", configModel, "--batch", configBatch, "--engine", "gorgonia",
		"--out", out, "--quiet"}, arguments...)...)
	command.Stderr = os.Stderr
	return out, command.Run()
}

// record makes the noise file: the repeats of one long bench, one after the other.
func (b bench) record(file string) error {
	out, err := b.run("noise", "--repeat", fmt.Sprint(recorded))
	if err != nil {
		return err
	}
	journal, err := os.ReadFile(filepath.Join(out, harness.JournalName))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, journal, 0o644)
}

// real prints what check says of pairs that are run one after the other.
func (b bench) real(pairs int) error {
	var same tally
	fmt.Printf("%d real pairs, one after the other\n", pairs)
	for pair := 1; pair <= pairs; pair++ {
		var runs [2]*harness.Run
		for i := range runs {
			out, err := b.run(fmt.Sprintf("pair-%d-%d", pair, i))
			if err != nil {
				return err
			}
			if runs[i], err = harness.ReadRun(out); err != nil {
				return err
			}
		}
		before := same.alarms
		if err := same.add(runs[0], runs[1]); err != nil {
			return err
		}
		said := "no alarm"
		if same.alarms > before {
			said = "false alarm"
		}
		fmt.Printf("pair %2d  interval's width %5.1f%%  %s\n", pair, 100*same.widths[len(same.widths)-1], said)
	}
	fmt.Printf("false alarms  %d of %d  (goal at most %d of %d)\n", same.alarms, pairs, mostReal, realPairsRun)
	return nil
}
