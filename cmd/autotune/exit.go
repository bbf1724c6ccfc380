package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"autotune/harness"
)

// exitRegression is check's code for worse than the threshold and significant;
// the others are harness.ExitUsage to harness.ExitInterruption.
const exitRegression = 1

// exitPipe is the code where whoever read stdout has gone: that of a process that the signal ends.
const exitPipe = 128 + 13

// failure is an error of the command itself with its exit code.
type failure struct {
	code int
	text string // what is wrong and the next thing to try; empty: all has been said
}

// Error is the text.
func (f *failure) Error() string { return f.text }

// ExitCode is the code that the process ends with.
func (f *failure) ExitCode() int { return f.code }

// usagef is a failure of usage or configuration.
func usagef(format string, args ...any) error {
	return &failure{code: harness.ExitUsage, text: fmt.Sprintf(format, args...)}
}

// finish says on stderr what went wrong and gives the exit code.
func finish(stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.EPIPE):
		return exitPipe // nobody wants to know more
	}
	if text := err.Error(); text != "" {
		say(stderr, "autotune: "+strings.TrimSpace(text))
	}
	return exitCode(err)
}

// exitCode is the code that an error carries; an error without one is a failure of the harness.
func exitCode(err error) int {
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return harness.ExitFailed
}
