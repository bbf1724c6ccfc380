package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the command callable as autotune, also for its own workers.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"autotune": main})
}

// quickExit keeps a process under the race detector from sleeping for a second when it ends.
const quickExit = "atexit_sleep_ms=0"

// TestScripts runs the command as its users do; each file tells what it shows.
func TestScripts(t *testing.T) {
	// Where the tests were started with hangups ignored, as nohup does, the scripts' commands get them all the same.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", quickExit)
			env.Setenv("CUDA_VISIBLE_DEVICES", "") // a machine's GPUs decide nothing here
			return nil
		},
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
