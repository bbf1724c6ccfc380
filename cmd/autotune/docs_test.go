package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// slowMark before a block of the documentation says that its commands take minutes.
const slowMark = "<!-- slow -->"

// TestDocumentedCommands runs every command of this program that a sh block of
// the README or of docs shows, in order, one folder a document. All must end with
// exit code 0. Those that take minutes run with AUTOTUNE_SLOW_DOCS=1 alone.
func TestDocumentedCommands(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("trials do not run on Windows")
	}
	t.Setenv("GORACE", quickExit)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, document := range append([]string{filepath.Join(root, "README.md")}, documents...) {
		content, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		commands := documentedCommands(string(content), os.Getenv("AUTOTUNE_SLOW_DOCS") == "1")
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
// order, with go run ./cmd/autotune written as autotune.
func documentedCommands(markdown string, slow bool) []string {
	var commands []string
	inBlock, skip := false, false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSpace(line)
		switch {
		case line == slowMark:
			skip = !slow
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
	}, "\n")
	for slow, want := range map[bool]string{
		false: "autotune one|autotune two|autotune three",
		true:  "autotune one|autotune two|autotune slow|autotune three",
	} {
		if got := strings.Join(documentedCommands(document, slow), "|"); got != want {
			t.Errorf("slow %v: %s, want %s", slow, got, want)
		}
	}
}
