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

// torchVariable names a Python interpreter with PyTorch, and requiredVariable set to 1 says that it must be there.
const (
	torchVariable    = "AUTOTUNE_PYTHON_NEW"
	requiredVariable = "AUTOTUNE_REQUIRE_PYTHON"
)

// haveTorch says whether there is a Python interpreter with PyTorch.
func haveTorch() (bool, error) {
	have := os.Getenv(torchVariable) != ""
	if !have && os.Getenv(requiredVariable) == "1" {
		return false, fmt.Errorf("%s is not set; it names a Python interpreter with PyTorch", torchVariable)
	}
	return have, nil
}

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
			env.Setenv("PYTHON", os.Getenv(torchVariable))
			env.Setenv("OMP_NUM_THREADS", "1") // small models gain nothing from more
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "race":
				return raceDetector, nil
			case "torch":
				return haveTorch()
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
