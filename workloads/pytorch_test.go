package workloads_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"autotune/workloads"
	"autotune/workloads/devices"
)

const (
	cudaAnswer = `{"torch": "2.15.0", "versions": {"python": "3.13.1"}, "cuda_available": true, "precisions": {"fp32": ""}, "predicts": true,
		"devices": [{"index": 0, "uuid": "1", "name": "NVIDIA H200", "total_bytes": 100, "free_bytes": 60}],
		"model": {"parameters": 12, "input_shape": [3, 4, 4], "sample_unit": "image"}}`
	cpuAnswer = `{"torch": "2.15.0", "precisions": {"fp32": ""}, "predicts": true, "model": {"parameters": 12, "input_shape": [3, 4, 4]}}`
	noTorch   = `{"torch": "", "error": {"type": "ModuleNotFoundError", "text": "ModuleNotFoundError: No module named 'torch'"}}`
)

// machine makes the environment that of a machine with two NVIDIA devices, by a stand-in for nvidia-smi, and with
// a stand-in for python3 that answers every probe alike. The first device of nvidia-smi is idle; that of PyTorch is the second.
func machine(t *testing.T, answer string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	folder := t.TempDir()
	for name, script := range map[string]string{
		"nvidia-smi": "case \"$1\" in --query-gpu=*) echo 0, GPU-0, NVIDIA T4, 15360, 10, 15350, Disabled; echo 1, GPU-1, NVIDIA H200, 143771, 31949, 111309, Disabled;; " +
			"*) echo GPU-1, 1234, /usr/bin/python, 31000;; esac",
		"python3": "if [ \"$1\" = -c ]; then echo '{\"version\": \"3.11.2\"}'; exit; fi\ncat <<'END'\n" + answer + "\nEND",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, variable := range []string{"VIRTUAL_ENV", "CONDA_PREFIX", devices.VisibleVariable} {
		t.Setenv(variable, "")
		if err := os.Unsetenv(variable); err != nil {
			t.Fatal(err)
		}
	}
}

// TestResolveGPU holds which engine, device and model are taken on a machine with a GPU.
func TestResolveGPU(t *testing.T) {
	for _, c := range []struct {
		name, answer          string
		choice                workloads.Choice
		model, engine, device string
		reason                string // in it
	}{
		{"auto, usable", cudaAnswer, workloads.Choice{Model: "resnet"}, "resnet50", "pytorch", "cuda", "it can use a GPU here"},
		{"auto, not usable", cpuAnswer, workloads.Choice{Model: "resnet"}, "resnet20", "gorgonia", "cpu", "PyTorch cannot use a GPU here: torch 2.15.0 of "},
		{"auto, no torch", noTorch, workloads.Choice{Model: "resnet"}, "resnet20", "gorgonia", "cpu", "python3 has no torch that can be used"},
		{"auto on the CPU", cudaAnswer, workloads.Choice{Model: "resnet", Device: "cpu"}, "resnet20", "gorgonia", "cpu", "the device is the CPU"},
		{"auto on CUDA", cudaAnswer, workloads.Choice{Model: "resnet", Device: "cuda:0"}, "resnet50", "pytorch", "cuda:0", "the engine of CUDA devices"},
		{"pytorch", cudaAnswer, workloads.Choice{Model: "resnet", Engine: "pytorch"}, "resnet50", "pytorch", "cuda", ""},
		{"pytorch on the CPU", cudaAnswer, workloads.Choice{Model: "resnet", Engine: "pytorch", Device: "cpu"}, "resnet20", "pytorch", "cpu", ""},
		{"no GPU for it", cpuAnswer, workloads.Choice{Model: "resnet", Engine: "pytorch"}, "resnet20", "pytorch", "cpu", ""},
		{"its own models", cudaAnswer, workloads.Choice{Model: "a.b:c", Input: "3,4,4", Classes: 2}, "a.b:c", "pytorch", "cuda", "the only engine of such models"},
		{"an interpreter", cpuAnswer, workloads.Choice{Model: "mlp", Python: "python3"}, "mlp", "pytorch", "cpu", "--python is given"},
	} {
		t.Run(c.name, func(t *testing.T) {
			machine(t, c.answer)
			w, err := workloads.Resolve(t.Context(), c.choice)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join([]string{w.Model, w.Engine, w.Device}, "|")
			if want := strings.Join([]string{c.model, c.engine, c.device}, "|"); got != want || !strings.Contains(w.EngineReason, c.reason) {
				t.Errorf("got %s (%s), want %s (%s)", got, w.EngineReason, want, c.reason)
			}
			if w.DeviceName == "" || w.Facts.Parameters == 0 {
				t.Errorf("incomplete: %+v", w)
			}
			busy := ""
			if w.Device != "cpu" {
				busy = "31.2 GiB used by others: python 1234"
			}
			if w.DeviceBusy != busy {
				t.Errorf("busy: %q, want %q", w.DeviceBusy, busy)
			}
		})
	}
}

// TestResolveShape holds that what the user said of the samples reaches the worker.
func TestResolveShape(t *testing.T) {
	machine(t, cpuAnswer)
	w, err := workloads.Resolve(t.Context(), workloads.Choice{Model: "a.b:c", Input: "3, 64,64", Classes: 7})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.InputShape) != 3 || w.InputShape[1] != 64 || w.Classes != 7 || len(w.Graph) != 0 {
		t.Errorf("%+v", w)
	}
	for _, text := range []string{"", "3,", "3,0,4", "-1", "3x4", "99999999999"} {
		if shape, err := workloads.ParseShape(text); err == nil {
			t.Errorf("%q is the shape %v", text, shape)
		}
	}
}
