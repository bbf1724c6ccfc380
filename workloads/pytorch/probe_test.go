package pytorch_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/workloads/model"
	"autotune/workloads/pytorch"
)

// standIn writes a shell script that stands in for Python: it keeps what it is asked in the file asked of its
// folder, and answers with the content of the file answer.
func standIn(t *testing.T, answer string) (in pytorch.Interpreter, folder string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	folder = t.TempDir()
	path := filepath.Join(folder, "python")
	script := "#!/bin/sh\nif [ \"$1\" = -c ]; then echo '" + `{"version": "3.11.2", "managed": false, "pip": true, "ensurepip": true}` +
		"'; exit; fi\necho \"$@\" >" + folder + "/arguments\nhead -n 1 >" + folder + "/asked\ncat " + folder + "/answer\n"
	for name, content := range map[string]string{"python": script, "answer": answer} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	in, err := pytorch.FindInterpreter(path)
	if err != nil {
		t.Fatal(err)
	}
	return in, folder
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func TestProbe(t *testing.T) {
	in, folder := standIn(t, `{"torch": "2.15.0+cpu", "versions": {"torchvision": "0.29"}, "predicts": true}`)
	request := pytorch.ProbeRequest{Work: protocol.Work{Model: "torchvision:resnet18", InputShape: []int{3, 64, 64}, Classes: 7}, Device: "cpu"}
	answer, err := pytorch.Probe(t.Context(), in, request)
	if err != nil || answer.Torch != "2.15.0+cpu" || !answer.Predicts || answer.Versions["torchvision"] != "0.29" {
		t.Errorf("%+v, %v", answer, err)
	}
	var asked pytorch.ProbeRequest
	if err := json.Unmarshal([]byte(read(t, folder, "asked")), &asked); err != nil || asked.Model != request.Model || asked.Classes != 7 || asked.Device != "cpu" {
		t.Errorf("asked %+v, %v", asked, err)
	}
	arguments := strings.Fields(read(t, folder, "arguments"))
	if len(arguments) != 5 || arguments[0] != "-u" || filepath.Base(arguments[1]) != "autotune_worker" || arguments[2] != "probe" || arguments[3] != "--remove" {
		t.Errorf("arguments %v", arguments)
	}
	if _, err := os.Stat(arguments[1]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the worker's files are left behind: %v", err)
	}
}

// TestProbeEnds holds that the context's end ends the interpreter and what it started.
func TestProbeEnds(t *testing.T) {
	in, folder := standIn(t, "")
	script := "#!/bin/sh\nsleep 100 &\necho $! >" + folder + "/child\ntouch " + folder + "/begun\nwait\n"
	if err := os.WriteFile(in.Path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if _, err := os.Stat(filepath.Join(folder, "begun")); err == nil {
				cancel()
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if _, err := pytorch.Probe(ctx, in, pytorch.ProbeRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if child := strings.TrimSpace(read(t, folder, "child")); runtime.GOOS == "linux" {
		for range 100 {
			stat, err := os.ReadFile("/proc/" + child + "/stat")
			if err != nil || strings.Contains(string(stat), ") Z ") {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("process %s is still there", child)
	}
}

func TestUnpack(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "worker")
	for range 2 {
		worker, err := pytorch.Unpack(folder)
		if err != nil {
			t.Fatal(err)
		}
		embedded, err := filepath.Glob("autotune_worker/*.py")
		if err != nil || len(embedded) == 0 {
			t.Fatalf("%v, %v", embedded, err)
		}
		for _, file := range embedded {
			if read(t, worker, filepath.Base(file)) != read(t, file) {
				t.Errorf("%s differs", file)
			}
		}
		written, err := os.ReadDir(worker)
		if err != nil || len(written) != len(embedded) {
			t.Errorf("%d files of %d, %v", len(written), len(embedded), err)
		}
		// The next time mends a file that was cut off.
		if err := os.WriteFile(filepath.Join(worker, "__init__.py"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

const onCUDA = `{"torch": "2.15.0", "versions": {"torch": "2.15.0", "python": "3.13.1"}, "cuda_available": true,
	"devices": [{"index": 0, "name": "A", "free_bytes": 5}, {"index": 1, "name": "B", "free_bytes": 7}],
	"model": {"parameters": 12, "input_shape": [3, 4, 4], "batch_norm": true, "sample_unit": "image", "own_optimizer": true},
	"precisions": {"fp64": "", "fp32": "", "bf16": "no kernel", "fp16": ""}, "predicts": false, "unpredicted": "it is a stand-in"}`

func TestDescribe(t *testing.T) {
	in, _ := standIn(t, onCUDA)
	var w harness.Workload
	if err := pytorch.Describe(t.Context(), &w, in, pytorch.Choice{Model: "train.py:build", Device: "cuda:1", Precisions: []string{"fp16"}}); err != nil {
		t.Fatal(err)
	}
	if w.Engine != "pytorch" || w.Model != "train.py:build" || w.Device != "cuda:1" || w.DeviceName != "B" || *w.DeviceBytes != 7 ||
		w.LimitOn != "reserved" || w.LimitOnNone != "" || w.Predicts || w.Unpredicted != "it is a stand-in" {
		t.Errorf("%+v", w)
	}
	if got := strings.Join(w.Precisions, ","); got != "fp64,fp32,fp16" {
		t.Errorf("precisions %s", got)
	}
	if f := w.Facts; f.Parameters != 12 || f.SampleUnit != "image" || !f.BatchNorm || f.RecipeBatch != 0 || f.RecipeOptimizer != harness.OwnOptimizer {
		t.Errorf("facts %+v", f)
	}
	if len(w.Notes) != 2 || !strings.Contains(w.Notes[0], "its own optimizer") || !strings.Contains(w.Notes[1], "it is a stand-in") {
		t.Errorf("notes %q", w.Notes)
	}
	if w.Versions["python"] != "3.13.1 ("+in.Path+")" {
		t.Errorf("versions %v", w.Versions)
	}
	folder := t.TempDir()
	command, err := w.Prepare(folder)
	if want := []string{in.Path, "-u", filepath.Join(folder, "worker", "autotune_worker"), "serve", "--device", "cuda:1"}; err != nil ||
		strings.Join(command, "|") != strings.Join(want, "|") {
		t.Errorf("%v, %v", command, err)
	}
}

// The worker imports the package of a model by name before its first trial; a user's file is read anew for each.
func TestDescribeCommand(t *testing.T) {
	in, _ := standIn(t, onCUDA)
	for model, imports := range map[string]string{"torchvision:resnet18": "--import|torchvision", "my.nets:Net": "--import|my.nets", "train.py:build": ""} {
		var w harness.Workload
		if err := pytorch.Describe(t.Context(), &w, in, pytorch.Choice{Model: model, Device: "cuda:1"}); err != nil {
			t.Fatal(err)
		}
		command, err := w.Prepare(t.TempDir())
		if got := strings.Join(command, "|"); err != nil || !strings.HasSuffix(got, strings.TrimSuffix("|serve|--device|cuda:1|"+imports, "|")) {
			t.Errorf("%s: %s, %v", model, got, err)
		}
	}
}

func TestDescribeBuiltIn(t *testing.T) {
	in, folder := standIn(t, `{"torch": "1.13.1", "precisions": {"fp32": ""}, "predicts": false, "unpredicted": "torch 1.13"}`)
	t.Setenv("OMP_NUM_THREADS", "3")
	graph, err := model.Build("mlp", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := harness.Workload{Facts: harness.ModelFacts{RecipeBatch: 64}}
	if err := pytorch.Describe(t.Context(), &w, in, pytorch.Choice{Model: "mlp", Graph: graph, Device: "cpu"}); err != nil {
		t.Fatal(err)
	}
	if w.LimitOn != "tensors" || w.LimitOnNone != "" || w.DeviceBytes != nil || w.Facts.RecipeBatch != 64 || len(w.Graph) == 0 || w.Versions["threads"] != "3" {
		t.Errorf("%+v", w)
	}
	if asked := read(t, folder, "asked"); !strings.Contains(asked, `"graph":{"recipe"`) {
		t.Errorf("asked %.200s", asked)
	}
}

func TestDescribeErrors(t *testing.T) {
	for _, c := range []struct {
		answer string
		choice pytorch.Choice
		code   int
		want   []string
	}{
		{onCUDA, pytorch.Choice{Device: "cuda", Precisions: []string{"bf16"}}, harness.ExitUsage, []string{"unsupported: bf16: no kernel", "fp64, fp32, fp16"}},
		{onCUDA, pytorch.Choice{Device: "cuda:2"}, harness.ExitNoDevice, []string{"cuda:2", "cuda:0, cuda:1"}},
		{`{"torch": "2.15.0"}`, pytorch.Choice{Device: "cuda"}, harness.ExitNoDevice, []string{"sees no CUDA device", "--device cpu"}},
		{`{"torch": "2.15.0", "error": {"type": "usage", "text": "--model timm:vit: timm is not installed"}}`, pytorch.Choice{Model: "timm:vit", Device: "cpu"}, harness.ExitUsage,
			[]string{"--model timm:vit: timm is not installed"}},
		{`{"torch": "2.15.0", "error": {"type": "ValueError", "text": "ValueError: odd\n  File \"train.py\", line 3"}}`, pytorch.Choice{Model: "train.py", Device: "cpu"},
			harness.ExitUsage, []string{"--model train.py: ValueError: odd", `File "train.py", line 3`}},
		{"no JSON", pytorch.Choice{Device: "cpu"}, harness.ExitNoDevice, []string{"answer cannot be read"}},
	} {
		in, _ := standIn(t, c.answer)
		err := pytorch.Describe(t.Context(), new(harness.Workload), in, c.choice)
		var coded interface{ ExitCode() int }
		if !errors.As(err, &coded) || coded.ExitCode() != c.code {
			t.Errorf("%+v: %v, want an error of exit code %d", c.choice, err, c.code)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%+v: %v does not say %s", c.choice, err, part)
			}
		}
	}
}
