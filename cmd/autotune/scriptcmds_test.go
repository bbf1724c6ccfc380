package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits runs a command that must end with the given code:
//
//	exits CODE COMMAND ARGUMENT...
//
// Its streams are checked with stdout and stderr as after exec.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGUMENT...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	if exit, ok := err.(*exec.ExitError); ok {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// lines checks how many lines of a file match a pattern:
//
//	lines COUNT FILE PATTERN
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: lines COUNT FILE PATTERN")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := matching(ts, args[1], args[2]); got != want {
		ts.Fatalf("%d lines of %s match %s, want %d", got, args[1], args[2], want)
	}
}

// waitFor waits until at least so many lines of a file match a pattern:
//
//	waitfor COUNT FILE PATTERN
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: waitfor COUNT FILE PATTERN")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if matching(ts, args[1], args[2]) >= want {
			return
		}
	}
	ts.Fatalf("after a minute fewer than %d lines of %s match %s", want, args[1], args[2])
}

// matching counts the lines of a file that match; a file that is not there has none.
func matching(ts *testscript.TestScript, file, pattern string) int {
	expression, err := regexp.Compile(pattern)
	ts.Check(err)
	content, err := os.ReadFile(ts.MkAbs(file))
	if err != nil {
		return 0
	}
	n := 0
	for line := range strings.Lines(string(content)) {
		if expression.MatchString(line) {
			n++
		}
	}
	return n
}
