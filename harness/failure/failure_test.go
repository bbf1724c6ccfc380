package failure_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"autotune/harness/failure"
)

// TestRealTexts holds the table against texts that people reported.
func TestRealTexts(t *testing.T) {
	meanings := map[string]failure.Meaning{
		"device_oom": failure.Memory, "host_oom": failure.Memory,
		"maybe_oom": failure.MaybeMemory, "not_oom": failure.Other,
	}
	file, err := os.Open("testdata/oom-texts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	lines, seen := bufio.NewScanner(file), 0
	for lines.Scan() {
		var c struct {
			ID, Text string
			Expect   struct {
				Classes []string `json:"accept_classes"`
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		seen++
		row := failure.Explain(failure.Seen{Type: failure.TypeExit, Text: c.Text})
		accepted := slices.ContainsFunc(c.Expect.Classes, func(class string) bool { return meanings[class] == row.Means })
		if !accepted {
			t.Errorf("%s: row %q says %q, want one of %v", c.ID, row.Name, row.Means, c.Expect.Classes)
		}
	}
	if lines.Err() != nil || seen < 30 {
		t.Fatalf("read %d cases: %v", seen, lines.Err())
	}
}

func TestExplain(t *testing.T) {
	kills := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		name string
		seen failure.Seen
		want failure.Meaning
	}{
		{"go heap", failure.Seen{Type: failure.TypeExit, Text: "fatal error: runtime: out of memory\n\nruntime stack:"}, failure.Memory},
		{"go under a small ulimit", failure.Seen{Type: failure.TypeExit, Text: "runtime: mmap: x\nfatal error: runtime: cannot allocate memory"}, failure.Memory},
		{"go deadlock", failure.Seen{Type: failure.TypeExit, Text: "fatal error: all goroutines are asleep - deadlock!"}, failure.Other},
		{"a file that speaks of memory", failure.Seen{Type: "panic", Text: "open memory.max: no such file"}, failure.Other},
		{"errno", failure.Seen{Type: "*fs.PathError", Text: "mmap x: cannot allocate memory"}, failure.Memory},
		{"simulated", failure.Seen{Type: "torch.OutOfMemoryError", Text: "CUDA out of memory. Tried to allocate 2.00 MiB."}, failure.Memory},
		{"killed by the kernel", failure.Seen{Type: failure.TypeExit, Signal: "SIGKILL", KernelKills: kills(1)}, failure.MaybeMemory},
		{"killed, no count", failure.Seen{Type: failure.TypeExit, Signal: "SIGKILL"}, failure.MaybeMemory},
		{"killed by somebody else", failure.Seen{Type: failure.TypeExit, Signal: "SIGKILL", KernelKills: kills(0)}, failure.Other},
		{"segmentation fault", failure.Seen{Type: failure.TypeExit, Signal: "SIGSEGV", KernelKills: kills(1)}, failure.Other},
		{"over the limit", failure.Seen{Type: failure.TypeOverLimit, Signal: "SIGKILL"}, failure.Memory},
		{"deadline beats a text", failure.Seen{Type: failure.TypeDeadline, Text: "CUDA out of memory"}, failure.Deadline},
		{"interrupted", failure.Seen{Type: failure.TypeInterrupted, Signal: "SIGKILL"}, failure.Interrupted},
		{"unsupported", failure.Seen{Type: failure.TypeUnsupported}, failure.Unsupported},
		{"unsupported, says the engine", failure.Seen{Type: failure.TypeEngineUnsupported, Text: "precision bf16"}, failure.Unsupported},
		{"protocol", failure.Seen{Type: failure.TypeProtocol}, failure.Protocol},
		{"torch 2.5", failure.Seen{Type: "torch.OutOfMemoryError", Text: "Allocation on device 0 would exceed allowed memory. (out of memory)"}, failure.Memory},
		{"torch 2.0", failure.Seen{Type: "torch.cuda.OutOfMemoryError", Text: "Allocation on device 0 would exceed allowed memory."}, failure.Memory},
		{"torch 1.10", failure.Seen{Type: "RuntimeError", Text: "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity"}, failure.Memory},
		{"torch 2.8, accelerator", failure.Seen{Type: "torch.AcceleratorError", Text: "CUDA error: out of memory\nCUDA kernel errors might"}, failure.Memory},
		{"limit of the worker", failure.Seen{Type: "torch.OutOfMemoryError", Phase: "backward", Text: "DefaultCPUAllocator: can't allocate memory: you tried to allocate 64 bytes"}, failure.Memory},
		{"cpu on windows", failure.Seen{Type: "RuntimeError", Text: "DefaultCPUAllocator: not enough memory: you tried to allocate 1073741824 bytes."}, failure.Memory},
		{"python", failure.Seen{Type: "MemoryError"}, failure.Memory},
		{"c++", failure.Seen{Type: failure.TypeExit, Signal: "SIGABRT", Text: "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc"}, failure.Memory},
		{"nccl", failure.Seen{Type: "torch.distributed.DistBackendError", Text: "NCCL error in: x, unhandled cuda error\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 2 'out of memory'"}, failure.Memory},
		{"nccl, not said why", failure.Seen{Type: "RuntimeError", Text: "NCCL Error 1: unhandled cuda error"}, failure.MaybeMemory},
		{"cublas start", failure.Seen{Type: "RuntimeError", Text: "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"}, failure.MaybeMemory},
		{"cudnn allocation", failure.Seen{Type: "RuntimeError", Text: "cuDNN error: CUDNN_STATUS_ALLOC_FAILED"}, failure.MaybeMemory},
		{"cudnn internal", failure.Seen{Type: "RuntimeError", Text: "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR"}, failure.MaybeMemory},
		{"cudnn size", failure.Seen{Type: "RuntimeError", Text: "cuDNN error: CUDNN_STATUS_NOT_SUPPORTED. This error may appear"}, failure.MaybeMemory},
		{"cudnn execution", failure.Seen{Type: "RuntimeError", Text: "cuDNN error: CUDNN_STATUS_EXECUTION_FAILED"}, failure.MaybeMemory},
		{"cudnn engine, old", failure.Seen{Type: "RuntimeError", Text: "Unable to find an engine to execute this computation"}, failure.MaybeMemory},
		{"cudnn engine", failure.Seen{Type: "RuntimeError", Text: "GET was unable to find an engine to execute this computation"}, failure.MaybeMemory},
		{"onednn memory", failure.Seen{Type: "RuntimeError", Text: "could not create a memory object"}, failure.MaybeMemory},
		{"onednn primitive", failure.Seen{Type: "RuntimeError", Text: "could not create a primitive"}, failure.MaybeMemory},
		{"onednn execution", failure.Seen{Type: "RuntimeError", Text: "could not execute a primitive"}, failure.MaybeMemory},
		{"onednn without bf16", failure.Seen{Type: "RuntimeError", Text: "could not create a primitive descriptor iterator"}, failure.Unsupported},
		{"onednn without bf16 in the backward pass", failure.Seen{Type: "RuntimeError", Text: "DNNL does not support bf16/f16 backward on the platform with avx2_vnni_2"}, failure.Unsupported},
		{"no fp16 on this CPU", failure.Seen{Type: "RuntimeError", Text: `"addmm_impl_cpu_" not implemented for 'Half'`}, failure.Unsupported},
		{"an index of the wrong type", failure.Seen{Type: "RuntimeError", Text: `"nll_loss_forward_reduce_cuda_kernel_2d_index" not implemented for 'Int'`}, failure.Other},
		{"device assert", failure.Seen{Type: "RuntimeError", Text: "CUDA error: device-side assert triggered"}, failure.Other},
		{"wrong batch", failure.Seen{Type: failure.TypeWrongBatch, Text: "a batch had 3 samples where 8 were asked for"}, failure.Invalid},
		{"usage", failure.Seen{Type: failure.TypeUsage, Text: "torchvision has no model resnet19"}, failure.Other},
		{"nothing", failure.Seen{}, failure.Other},
	} {
		if got := failure.Explain(c.seen); got.Means != c.want {
			t.Errorf("%s: row %q says %q, want %q", c.name, got.Name, got.Means, c.want)
		}
	}
}

// TestFatal checks that a process is given up after a fault of CUDA, and not for want of memory.
func TestFatal(t *testing.T) {
	for text, fatal := range map[string]bool{
		"CUDA error: an illegal memory access was encountered": true,
		"CUDA error: device-side assert triggered":             true,
		"CUDA out of memory. Tried to allocate 2.00 MiB":       false,
	} {
		if row := failure.Explain(failure.Seen{Type: "RuntimeError", Text: text}); row.Fatal != fatal {
			t.Errorf("%q: row %q, fatal %v", text, row.Name, row.Fatal)
		}
	}
}

// TestTable checks that every row can be traced and that the last one catches all.
func TestTable(t *testing.T) {
	rows := failure.Table()
	names := map[string]bool{}
	for _, r := range rows {
		if r.Says == "" || r.Means == "" || !strings.HasPrefix(r.Source, "https://") && !strings.HasPrefix(r.Source, "docs/") {
			t.Errorf("row %q lacks a clause, a meaning or a source", r.Name)
		}
		if names[r.Name] {
			t.Errorf("two rows are named %q", r.Name)
		}
		names[r.Name] = true
	}
	if last := rows[len(rows)-1]; last.Type != "" || last.Text != nil || last.Signal != "" || last.Kills != "" {
		t.Errorf("the last row %q does not match everything", last.Name)
	}
}
