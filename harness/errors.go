package harness

import (
	"errors"
	"fmt"
)

// Exit codes of the command, carried by this package's errors (see UsageError
// and ExitError).
const (
	ExitUsage        = 2   // usage or configuration
	ExitNoDevice     = 3   // no usable device or engine
	ExitNothingFits  = 4   // nothing fits the memory limit
	ExitFailed       = 5   // no answer could be given
	ExitInterruption = 130 // stopped by the user; the run can be resumed
)

// The kinds of end without an answer, for errors.Is.
var (
	ErrNoEngine    = errors.New("no usable engine")
	ErrNothingFits = errors.New("nothing fits")
	ErrFailed      = errors.New("no answer")
	ErrInterrupted = errors.New("interrupted")
)

// UsageError is bad input: it names the input and the next thing to try.
type UsageError struct {
	Text string
}

// Error is the sentence.
func (e *UsageError) Error() string { return e.Text }

// ExitCode is ExitUsage.
func (e *UsageError) ExitCode() int { return ExitUsage }

// usagef is a UsageError of a formatted sentence.
func usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// ExitError is an end without an answer.
type ExitError struct {
	Kind error // one of the Err values above
	Err  error // what happened, with the next thing to try
}

// Error is what happened.
func (e *ExitError) Error() string { return e.Err.Error() }

// Unwrap gives the kind and what happened.
func (e *ExitError) Unwrap() []error { return []error{e.Kind, e.Err} }

// ExitCode is the command's exit code for the kind.
func (e *ExitError) ExitCode() int {
	switch e.Kind {
	case ErrNoEngine:
		return ExitNoDevice
	case ErrNothingFits:
		return ExitNothingFits
	case ErrInterrupted:
		return ExitInterruption
	}
	return ExitFailed
}

// exitf is an ExitError of a formatted sentence; %w works.
func exitf(kind error, format string, args ...any) error {
	return &ExitError{Kind: kind, Err: fmt.Errorf(format, args...)}
}
