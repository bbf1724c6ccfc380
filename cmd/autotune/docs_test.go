package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The marks before a block of the documentation: its commands take minutes; they need PyTorch.
const (
	slowMark  = "<!-- slow -->"
	torchMark = "<!-- torch -->"
)

// TestDocumentedCommands runs every command of this program that a sh block of
// the README or of docs shows, in order, one folder a document. All must end with
// exit code 0. Those that take minutes run with AUTOTUNE_SLOW_DOCS=1 alone, those that need PyTorch where there is
// an interpreter with it, whose environment is then the active one.
func TestDocumentedCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("trials do not run on Windows")
	}
	t.Setenv("GORACE", quickExit)
	t.Setenv("CUDA_VISIBLE_DEVICES", "") // a machine's GPUs decide nothing here
	torch, err := haveTorch()
	if err != nil {
		t.Error(err)
	}
	if torch {
		t.Setenv("VIRTUAL_ENV", filepath.Dir(filepath.Dir(os.Getenv(torchVariable))))
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	run := map[string]bool{slowMark: os.Getenv("AUTOTUNE_SLOW_DOCS") == "1", torchMark: torch}
	total := 0
	for _, document := range append([]string{filepath.Join(root, "README.md")}, documents...) {
		content, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		commands := documentedCommands(string(content), run)
		total += len(commands)
		t.Run(filepath.Base(document), func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Symlink(filepath.Join(root, "docs"), filepath.Join(dir, "docs")); err != nil {
				t.Fatal(err)
			}
			for _, command := range commands {
				shell := exec.Command("sh", "-c", command)
				shell.Dir = dir
				if output, err := shell.CombinedOutput(); err != nil {
					t.Errorf("%s: %v\n%s", command, err, output)
				}
			}
		})
	}
	if total == 0 {
		t.Error("no documented command was found")
	}
}

// documentedCommands are the lines of the sh blocks that call this program, in
// order, with go run ./cmd/autotune written as autotune. A block with a mark before it is left out unless run has
// every one of its marks.
func documentedCommands(markdown string, run map[string]bool) []string {
	var commands []string
	inBlock, skip := false, false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		allowed, isMark := run[line]
		switch {
		case isMark:
			skip = skip || !allowed
		case strings.HasPrefix(line, "```"):
			if inBlock {
				skip = false
			}
			inBlock = !inBlock && line == "```sh"
		case inBlock && !skip:
			if rest, found := strings.CutPrefix(line, "go run ./cmd/autotune "); found {
				line = "autotune " + rest
			}
			if strings.HasPrefix(line, "autotune ") {
				commands = append(commands, line)
			}
		}
	}
	return commands
}

// TestDocumentedCommandsFound holds the reader of blocks against a document with every case.
func TestDocumentedCommandsFound(t *testing.T) {
	document := strings.Join([]string{
		"autotune models", "```sh", "autotune one", "ls", "go run ./cmd/autotune two", "```",
		"```", "autotune not-a-sh-block", "```",
		slowMark, "```sh", "autotune slow", "```", "```sh", "autotune three", "```",
		torchMark, "```sh", "autotune torch", "```", slowMark, torchMark, "```sh", "autotune both", "```", "```sh", "autotune four", "```",
	}, "\n")
	for _, c := range []struct {
		slow, torch bool
		want        string
	}{
		{false, false, "one|two|three|four"},
		{true, false, "one|two|slow|three|four"},
		{false, true, "one|two|three|torch|four"},
		{true, true, "one|two|slow|three|torch|both|four"},
	} {
		got := strings.Join(documentedCommands(document, map[string]bool{slowMark: c.slow, torchMark: c.torch}), "|")
		if got = strings.ReplaceAll(got, "autotune ", ""); got != c.want {
			t.Errorf("slow %v, torch %v: %s, want %s", c.slow, c.torch, got, c.want)
		}
	}
}
