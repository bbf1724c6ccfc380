package main

import (
	"fmt"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the command callable as autotune, also for its own workers.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"autotune": main})
}

// TestScripts runs the command as its users do; each file tells what it shows.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Condition: func(name string) (bool, error) {
			if name == "race" {
				return raceDetector, nil
			}
			return false, fmt.Errorf("unknown condition %s", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"lines":   lines,
			"waitfor": waitFor,
		},
	})
}
