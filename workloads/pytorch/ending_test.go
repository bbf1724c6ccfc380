package pytorch_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"autotune/harness"
	"autotune/harness/protocol"
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
	for _, variable := range []string{oldTorch, newTorch} {
		t.Run(variable, func(t *testing.T) {
			python := interpreter(t, variable)
			inFolder(t, map[string]string{
				"leaves.py":  "import os\nprint('goodbye', flush=True)\nos._exit(3)\n",
				"crashes.py": "import os, signal\ndef build(micro_batch, precision):\n    os.kill(os.getpid(), signal.SIGSEGV)\n",
				"program.py": "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--data', required=True)\nparser.parse_args([])\n",
				"double.py":  strings.Replace(goodFile, "import torch", "import torch\ntorch.set_default_dtype(torch.float64)", 1),
			})
			for file, wants := range map[string][]string{
				"leaves.py:build":  {"--model leaves.py:build", "ended", "exit status 3", "goodbye"},
				"crashes.py:build": {"--model crashes.py:build", "ended", "segmentation fault"},
				"program.py:build": {"--model program.py:build", "SystemExit", "required: --data", `if __name__ == "__main__"`},
				"double.py:build":  {"--model double.py:build", "parameters are float64", "weight", "--precision fp32 trains float32"},
			} {
				err := described(t, python, file)
				var usage *harness.UsageError
				if !errors.As(err, &usage) {
					t.Errorf("%s: %v is no error of the user's", file, err)
					continue
				}
				for _, want := range wants {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("%s: %v does not say %q", file, err, want)
					}
				}
			}
		})
	}
}

// Files that are named like modules of Python's library do not keep torch from being imported.
func TestFilesNamedLikeTheLibrary(t *testing.T) {
	for _, variable := range []string{oldTorch, newTorch} {
		t.Run(variable, func(t *testing.T) {
			python := interpreter(t, variable)
			files := map[string]string{"train.py": goodFile}
			for _, name := range []string{"random", "json", "types", "queue", "logging", "typing", "platform"} {
				files[name+".py"] = "raise RuntimeError('a file of the user')\n"
			}
			inFolder(t, files)
			if err := described(t, python, "train.py:build"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestProbeEndsWithItsInput holds that a file that never ends does not outlive whoever asked.
func TestProbeEndsWithItsInput(t *testing.T) {
	python := interpreter(t, newTorch)
	inFolder(t, map[string]string{"hangs.py": "import time\nopen('begun', 'w').close()\ntime.sleep(600)\n"})
	worker, err := pytorch.Unpack(filepath.Join(t.TempDir(), "worker"))
	if err != nil {
		t.Fatal(err)
	}
	question, err := json.Marshal(pytorch.ProbeRequest{Work: protocol.Work{Model: "hangs.py:build", Precision: "fp32"}, Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(python, "-u", worker, "probe")
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	defer func() { _ = command.Process.Kill() }()
	if _, err := input.Write(append(question, '\n')); err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		if _, err := os.Stat("begun"); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("it goes on without its input")
	}
}
