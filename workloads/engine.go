package workloads

import (
	"context"
	"fmt"
	"io"
	"strings"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/workloads/gorgonia"
	"autotune/workloads/nearest"
	"autotune/workloads/pytorch"
	"autotune/workloads/simulated"
)

// The engines, by name.
const (
	Auto      = "auto"         // whichever suits the model and the device
	Gorgonia  = "gorgonia"     // built in, CPU
	PyTorch   = pytorch.Engine // CPU and CUDA
	Simulated = "simulated"    // a simulated device
)

// notYet are the engines that other versions have.
var notYet = []string{"cuda"}

// EngineNames are the names that Choice.Engine can have.
func EngineNames() []string { return []string{Auto, Gorgonia, PyTorch, Simulated} }

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

// checkEngine refuses engines that are not there.
func checkEngine(name string) error {
	for _, missing := range notYet {
		if name == missing {
			return unavailable("--engine %s is not in this version; use --engine %s, which trains on CUDA devices and on the CPU", missing, PyTorch)
		}
	}
	for _, known := range append(EngineNames(), "") {
		if name == known {
			return nil
		}
	}
	return usagef("--engine %s: unknown; it is one of %s%s", name,
		strings.Join(EngineNames(), ", "), nearest.Question(name, append(EngineNames(), notYet...), ""))
}

// chooseEngine gives the engine for a choice whose engine exists, and why where the user left it open. It starts
// Python only where that decides something: for a built-in model, where a GPU may be here.
func chooseEngine(ctx context.Context, c Choice) (name, reason string, err error) {
	switch {
	case c.Engine != Auto && c.Engine != "":
		return c.Engine, "", nil
	case c.Model == Simulated:
		return Simulated, "the only engine of this model", nil
	case pytorch.Names(c.Model):
		return PyTorch, "the only engine of such models", nil
	case c.Python != "":
		return PyTorch, "--python is given", nil
	case c.Device == cpu:
		return Gorgonia, "built in, and the device is the CPU", nil
	case c.Device != "":
		return PyTorch, "the engine of CUDA devices", nil
	case !pytorch.MayHaveGPU():
		return Gorgonia, "built in; no NVIDIA device is here", nil
	}
	usable, why := pytorch.CUDAUsable(ctx, c.Python)
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case usable:
		return PyTorch, "it can use a GPU here", nil
	}
	return Gorgonia, "built in; PyTorch cannot use a GPU here: " + why, nil
}

func usagef(format string, args ...any) error {
	return &harness.UsageError{Text: fmt.Sprintf(format, args...)}
}

func unavailable(format string, args ...any) error {
	return &harness.ExitError{Kind: harness.ErrNoEngine, Err: fmt.Errorf(format, args...)}
}
