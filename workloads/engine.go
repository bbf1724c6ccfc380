package workloads

import (
	"fmt"
	"io"
	"strings"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/workloads/gorgonia"
	"autotune/workloads/nearest"
	"autotune/workloads/simulated"
)

// The engines, by name.
const (
	Auto      = "auto"      // whichever suits the model and the device
	Gorgonia  = "gorgonia"  // built in, CPU
	Simulated = "simulated" // a simulated device
)

// notYet are the engines that other versions have.
var notYet = []string{"pytorch", "cuda"}

// EngineNames are the names that Choice.Engine can have.
func EngineNames() []string { return []string{Auto, Gorgonia, Simulated} }

// Serve trains for the harness at the other end of in and out until it says
// exit or closes: it is all that a worker process does.
func Serve(engine string, in io.Reader, out io.Writer) error {
	switch engine {
	case Gorgonia:
		return protocol.Serve(in, out, gorgonia.NewEngine())
	case Simulated:
		return protocol.Serve(in, out, simulated.NewEngine())
	}
	return usagef("no worker for the engine %q; there are %s and %s", engine, Gorgonia, Simulated)
}

// chooseEngine gives the engine for a choice, and why where the user left it open.
func chooseEngine(c Choice) (name, reason string, err error) {
	for _, missing := range notYet {
		if c.Engine == missing {
			return "", "", unavailable("--engine %s is not in this version; use --engine %s, which trains on the CPU", missing, Gorgonia)
		}
	}
	switch c.Engine {
	case Auto, "":
		if c.Model == Simulated {
			return Simulated, "the only engine of this model", nil
		}
		return Gorgonia, "built in; no PyTorch engine in this version", nil
	case Gorgonia, Simulated:
		return c.Engine, "", nil
	}
	return "", "", usagef("--engine %s: unknown; it is one of %s%s", c.Engine,
		strings.Join(EngineNames(), ", "), nearest.Question(c.Engine, append(EngineNames(), notYet...), ""))
}

func usagef(format string, args ...any) error {
	return &harness.UsageError{Text: fmt.Sprintf(format, args...)}
}

func unavailable(format string, args ...any) error {
	return &harness.ExitError{Kind: harness.ErrNoEngine, Err: fmt.Errorf(format, args...)}
}
