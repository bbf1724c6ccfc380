package pytorch_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"autotune/harness"
	"autotune/workloads/pytorch"
)

const goodFile = `
import torch

def build(micro_batch, precision):
    model = torch.nn.Linear(4, 2)
    batches = [(torch.zeros(micro_batch, 4), torch.zeros(micro_batch, dtype=torch.long))]
    loss = lambda model, batch: torch.nn.functional.cross_entropy(model(batch[0]), batch[1])
    return model, torch.optim.SGD(model.parameters(), lr=0.1), batches, loss
`

// inFolder makes a folder with files the working folder.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// described is what becomes of a user's file with an interpreter.
func described(t *testing.T, python, file string) error {
	t.Helper()
	in, err := pytorch.FindInterpreter(python)
	if err != nil {
		t.Fatal(err)
	}
	var w harness.Workload
	return pytorch.Describe(t.Context(), &w, in, pytorch.Choice{Model: file, Device: "cpu"})
}

// What a user's file does to Python is told of the file, and torch is not blamed.
func TestFilesThatEndPython(t *testing.T) {
	files := map[string]string{
		"leaves.py":  "import os\nprint('goodbye', flush=True)\nos._exit(3)\n",
		"done.py":    "import os\nos._exit(0)\n",
		"crashes.py": "import os, signal\ndef build(micro_batch, precision):\n    os.kill(os.getpid(), signal.SIGSEGV)\n",
		"program.py": "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--data', required=True)\nparser.parse_args()\n",
		"gives_up.py": "import sys\ndef build(micro_batch, precision):\n    print('first\\nno data', file=sys.stderr)\n    sys.exit(4)\n" +
			"def empty(micro_batch, precision):\n    raise KeyboardInterrupt\n",
		"double.py": strings.Replace(goodFile, "import torch", "import torch\ntorch.set_default_dtype(torch.float64)", 1),
	}
	for _, variable := range []string{oldTorch, newTorch} {
		t.Run(variable, func(t *testing.T) {
			python := interpreter(t, variable)
			inFolder(t, files)
			for file, wants := range map[string][]string{
				"leaves.py:build":   {"--model leaves.py:build: Python ended (exit status 3) while leaves.py was imported; the last that it printed: goodbye"},
				"done.py":           {"--model done.py: Python ended (exit status 0) while done.py was imported; it printed nothing"},
				"leaves:Net":        {"--model leaves:Net: Python ended (exit status 3) while leaves was imported"},
				"crashes.py:build":  {"Python ended (signal: segmentation fault", "while build of crashes.py was called"},
				"program.py:build":  {"SystemExit: 2 ended Python while program.py was imported", "program.py: error: ", "required: --data", `if __name__ == "__main__"`},
				"gives_up.py":       {"SystemExit: 4 ended Python while build of gives_up.py was called; the last that it printed:\n  first\n  no data\n", `line 4, in build`},
				"gives_up.py:empty": {"--model gives_up.py:empty: KeyboardInterrupt", "line 6, in empty"},
				"double.py:build":   {"--model double.py:build", "parameters are float64", "weight", "--precision fp32 trains float32"},
			} {
				expectUsage(t, described(t, python, file), append(wants, file)...)
			}
		})
	}
}

// expectUsage holds that an error is one of the user's and says some things; nothing of the worker's is in it.
func expectUsage(t *testing.T, err error, wants ...string) {
	t.Helper()
	var usage *harness.UsageError
	if !errors.As(err, &usage) || strings.Contains(err.Error(), "autotune_worker") {
		t.Errorf("%v is no error of the user's", err)
		return
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

// A file that reads arguments finds none: those of the worker are not its own.
func TestFileThatReadsArguments(t *testing.T) {
	python := interpreter(t, oldTorch)
	inFolder(t, map[string]string{"train.py": "import argparse\nargparse.ArgumentParser().parse_args()\n" + goodFile})
	if err := described(t, python, "train.py"); err != nil {
		t.Error(err)
	}
}

// A package that is not there: the command for the interpreter in use, beside the torch that it has.
func TestMissingPackage(t *testing.T) {
	python := interpreter(t, newTorch)
	inFolder(t, map[string]string{"train.py": "import nosuchpackage\n", "nets.py": "def make():\n    import timm\n"})
	const keep = ` torch==\d+\.\d+\.\d+$`
	for file, want := range map[string]string{
		"timm:resnet18": `^--model timm:resnet18: there is no package timm\nThis helps: .* pip install timm` + keep,
		"nets:make":     `^--model nets:make: ModuleNotFoundError: No module named 'timm'(?s:.*)line 2, in make\n(?s:.*)\nThis helps: .* pip install timm` + keep,
		"train.py":      `^--model train.py: ModuleNotFoundError: No module named 'nosuchpackage'(?s:.*)\nA package is put there by: .* pip install NAME` + keep,
	} {
		if err := described(t, python, file); err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%s: %v does not match %s", file, err, want)
		}
	}
}

// Files that are named like modules of Python's library do not get in the way of torch, and the user's own are found.
func TestFilesNamedLikeTheLibrary(t *testing.T) {
	for _, variable := range []string{oldTorch, newTorch} {
		t.Run(variable, func(t *testing.T) {
			python := interpreter(t, variable)
			names, err := exec.Command(python, "-c", "import sys; print(*sys.stdlib_module_names)").Output()
			if err != nil {
				t.Fatal(err)
			}
			files := map[string]string{"train.py": "import helper\n" + goodFile, "helper.py": "", "nets.py": "import helper, torch\nNet = torch.nn.Linear(2, 2)\n"}
			for _, name := range strings.Fields(string(names)) {
				files[name+".py"] = "raise RuntimeError('a file of the user')\n"
			}
			inFolder(t, files)
			for _, model := range []string{"train.py:build", "nets:Net"} {
				if err := described(t, python, model); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// hangs is a file that says which processes it has, and does not end.
const hangs = `
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
with open("pids", "w") as file:
    file.write("%d %d" % (os.getpid(), child.pid))
os.rename("pids", "begun")
time.sleep(600)
`

// TestProbeOfOneThatIsKilled holds that nothing is left where autotune is killed while a user's file is imported: no
// process, and no file.
func TestProbeOfOneThatIsKilled(t *testing.T) {
	if python := os.Getenv("AUTOTUNE_TEST_PROBE"); python != "" { // the process that is killed
		t.Errorf("not killed: %v", described(t, python, "hangs.py"))
		return
	}
	if runtime.GOOS != "linux" {
		t.Skip("/proc says what is left")
	}
	for _, variable := range []string{oldTorch, newTorch} {
		t.Run(variable, func(t *testing.T) {
			python := interpreter(t, variable)
			inFolder(t, map[string]string{"hangs.py": hangs})
			temporary := t.TempDir()
			command := exec.Command(os.Args[0], "-test.run=^TestProbeOfOneThatIsKilled$")
			command.Env = append(os.Environ(), "AUTOTUNE_TEST_PROBE="+python, "TMPDIR="+temporary)
			if err := command.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "hangs.py begins", func() bool { return exists("begun") })
			if err := command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = command.Wait()
			for _, pid := range strings.Fields(read(t, "begun")) {
				eventually(t, "process "+pid+" ends", func() bool {
					stat, err := os.ReadFile("/proc/" + pid + "/stat")
					return err != nil || strings.Contains(string(stat), ") Z ")
				})
			}
			eventually(t, "the worker's files go", func() bool {
				left, err := filepath.Glob(filepath.Join(temporary, "autotune-*"))
				return err == nil && len(left) == 0
			})
		})
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// eventually waits until something is so, a minute at most.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 6000 {
		if is() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s: not within a minute", what)
}
