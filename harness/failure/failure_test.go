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
		{"nothing", failure.Seen{}, failure.Other},
	} {
		if got := failure.Explain(c.seen); got.Means != c.want {
			t.Errorf("%s: row %q says %q, want %q", c.name, got.Name, got.Means, c.want)
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
