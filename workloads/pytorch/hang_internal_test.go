package pytorch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"autotune/harness/protocol"
)

// lateContext is one whose deadline comes when a file is there.
type lateContext struct {
	context.Context
	file string
	late chan struct{}
}

func (c *lateContext) Done() <-chan struct{} { return c.late }

func (c *lateContext) Err() error {
	select {
	case <-c.late:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// lateAt waits for the file.
func lateAt(t *testing.T, file string) context.Context {
	c := &lateContext{t.Context(), file, make(chan struct{})}
	go func() {
		for t.Context().Err() == nil {
			if _, err := os.Stat(file); err == nil {
				close(c.late)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}()
	return c
}

// What does not end in time is named: torch where it was not there yet, else what the user's code was doing.
func TestProbeThatHangs(t *testing.T) {
	python := os.Getenv("AUTOTUNE_PYTHON_NEW")
	if python == "" {
		t.Skip("AUTOTUNE_PYTHON_NEW is not set; it names a Python interpreter (scripts/find-python)")
	}
	t.Chdir(t.TempDir())
	const waits = "print('loading', flush=True)\nopen(FILE, 'w').close()\nimport time; time.sleep(600)\n"
	for _, c := range []struct {
		model, source string
		wants         []string
	}{
		{"hangs.py", waits, []string{"while hangs.py was imported; the last that it printed: loading", "if __name__", python + " hangs.py"}},
		{"nets:Net", waits, []string{"while nets was imported", python + " -c 'import nets'"}},
		{"slow.py", "def build(micro_batch, precision):\n " + strings.ReplaceAll(strings.TrimSpace(waits), "\n", "\n "), []string{"while build of slow.py was called"}},
	} {
		begun := filepath.Join(t.TempDir(), "begun")
		source := strings.ReplaceAll(c.source, "FILE", "'"+begun+"'")
		if err := os.WriteFile(strings.TrimSuffix(strings.Split(c.model, ":")[0], ".py")+".py", []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := FindInterpreter(python)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := probe(lateAt(t, begun), in, ProbeRequest{Work: protocol.Work{Model: c.model, Precision: "fp32"}, Device: "cpu"})
		if err != nil || answer.Error == nil {
			t.Fatalf("%s: %+v, %v", c.model, answer, err)
		}
		for _, want := range c.wants {
			if !strings.Contains(answer.Error.Text, want) {
				t.Errorf("%s: %s does not say %q", c.model, answer.Error.Text, want)
			}
		}
	}
}

func TestPythonThatHangs(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "python")
	if err := os.WriteFile(path, []byte("#!/bin/sh\ntouch "+folder+"/begun\nsleep 600\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	in, err := FindInterpreter(path)
	if err != nil {
		t.Skip("the stand-in is a shell script")
	}
	_, err = probe(lateAt(t, filepath.Join(folder, "begun")), in, ProbeRequest{Device: "cpu"})
	var coded interface{ ExitCode() int }
	if !errors.As(err, &coded) || !strings.Contains(err.Error(), "no answer within 1m0s") || !strings.Contains(err.Error(), "-c 'import torch'") {
		t.Errorf("%v", err)
	}
}
