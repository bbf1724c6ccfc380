package pytorch

import (
	"fmt"

	"autotune/harness"
)

func usagef(format string, args ...any) error {
	return &harness.UsageError{Text: fmt.Sprintf(format, args...)}
}

// noEngine is the error where the engine or the device is not there.
func noEngine(format string, args ...any) error {
	return &harness.ExitError{Kind: harness.ErrNoEngine, Err: fmt.Errorf(format, args...)}
}
