package workloads

import (
	"context"
	"os"
	"strconv"
	"strings"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/workloads/gorgonia"
	"autotune/workloads/model"
	"autotune/workloads/nearest"
	"autotune/workloads/pytorch"
	"autotune/workloads/simulated"
)

// WorkerCommand is the hidden subcommand of autotune that Serve answers to.
const WorkerCommand = "worker"

// cpu is the device that every engine but the simulated one has.
const cpu = "cpu"

// Choice is what a user asked to train.
type Choice struct {
	Model   string            // a built-in model or an alias, a model of PyTorch (pytorch.Names), or simulated
	Options map[string]string // of the model, as text; those left out have their defaults
	Engine  string            // one of EngineNames; empty: auto
	Device  string            // cpu, cuda or cuda:N; empty: cuda where PyTorch trains and can use it, else cpu
	// Python, Input (a shape as ParseShape reads it) and Classes are for PyTorch alone; empty and 0: found out.
	Python  string
	Input   string
	Classes int
	// Precisions are refused with the original text where PyTorch's device cannot do them.
	Precisions []string
}

// Resolve checks a choice and gives the workload. The context's end ends a Python that is asked meanwhile. Errors
// are *harness.UsageError, a *harness.ExitError of the kind harness.ErrNoEngine where the engine or the
// device is not there, or the context's.
func Resolve(ctx context.Context, c Choice) (harness.Workload, error) {
	var w harness.Workload
	if err := checkDevice(c.Device); err != nil {
		return w, err
	}
	if err := checkEngine(c.Engine); err != nil {
		return w, err
	}
	if err := checkModel(c.Model); err != nil {
		return w, err
	}
	engine, reason, err := chooseEngine(ctx, c)
	if err != nil {
		return w, err
	}
	w.Engine, w.EngineReason, w.Options = engine, reason, c.Options
	switch engine {
	case Simulated:
		err = describeSimulated(&w, c)
	case PyTorch:
		err = describePyTorch(ctx, &w, c)
	default:
		err = describeGorgonia(&w, c)
	}
	return w, err
}

// checkDevice refuses what names no device.
func checkDevice(device string) error {
	kind, index, numbered := strings.Cut(device, ":")
	if _, err := strconv.ParseUint(index, 10, 16); kind == "cuda" && (!numbered || err == nil) {
		return nil
	}
	if device != cpu && device != "" {
		return usagef("--device %s: unknown; it is cpu, cuda or cuda:N%s", device,
			nearest.Question(device, []string{cpu, "cuda"}, ""))
	}
	return nil
}

// checkModel refuses a name that no engine has.
func checkModel(name string) error {
	if before, after, found := strings.Cut(name, ":"); found && (before == "" || after == "") {
		return usagef("--model %s: half of a name; there are %s", name, strings.Join(pytorch.Forms(), ", "))
	}
	if name == Simulated || pytorch.Names(name) {
		return nil
	}
	if _, err := model.Resolve(name, cpu); err != nil {
		return usagef("--model %s: %v; PyTorch trains more: %s", name, err, strings.Join(pytorch.Forms(), ", "))
	}
	return nil
}

// ownWorker makes the worker this very program. It trains on the CPU and has no use for what is said of Python.
func ownWorker(w *harness.Workload, c Choice) error {
	if c.Device != cpu && c.Device != "" {
		return unavailable("--device %s: the engine %s trains on the CPU; use --engine %s, or --device %s", c.Device, w.Engine, PyTorch, cpu)
	}
	for _, given := range []struct {
		flag  string
		given bool
	}{{"--python", c.Python != ""}, {"--input", c.Input != ""}, {"--classes", c.Classes != 0}} {
		if given.given {
			return usagef("%s: the engine %s does not have it; leave it out, or use --engine %s", given.flag, w.Engine, PyTorch)
		}
	}
	program, err := os.Executable()
	if err != nil {
		return unavailable("this program's own file, which workers are started from, cannot be found: %w", err)
	}
	w.Command = []string{program, WorkerCommand, "--engine", w.Engine}
	return nil
}

// describeGorgonia fills in what is known of a built-in model on the CPU.
func describeGorgonia(w *harness.Workload, c Choice) error {
	if c.Model == Simulated {
		return usagef("--engine %s does not train the model %s; use --engine %s", w.Engine, c.Model, Simulated)
	}
	if pytorch.Names(c.Model) {
		return usagef("--engine %s does not train the model %s; use --engine %s", w.Engine, c.Model, PyTorch)
	}
	if err := ownWorker(w, c); err != nil {
		return err
	}
	name, graph, err := buildGraph(c, cpu)
	if err != nil {
		return err
	}
	w.Model, w.Device, w.LimitOn = name, cpu, protocol.Resident
	w.Precisions = gorgonia.NewEngine().Ready().Precisions
	w.Elsewhere = "--engine pytorch, which has fp16, bf16, tf32 on CUDA, and knobs"
	w.DeviceName = cpuName()
	w.Facts = factsOf(graph)
	return nil
}

// buildGraph builds a built-in model, or the one that an alias stands for on a kind of device.
func buildGraph(c Choice, kind string) (string, *model.Graph, error) {
	name, err := model.Resolve(c.Model, kind)
	if err != nil {
		return "", nil, usagef("--model %s: %v", c.Model, err)
	}
	graph, err := model.Build(name, c.Options)
	if err != nil {
		return "", nil, usagef("--set: %v", err)
	}
	return name, graph, nil
}

// cpuName is the processor's model, or its architecture where the system does not say.
func cpuName() string {
	env := harness.ReadEnvironment()
	if env.CPUModel != nil {
		return *env.CPUModel
	}
	return env.Arch
}

// describeSimulated fills in what is known of a simulated device. It has no
// recipe's batch, so that by default any global batch will do.
func describeSimulated(w *harness.Workload, c Choice) error {
	if c.Model != Simulated {
		return usagef("--engine %s has the one model %s, not %s; use --model %s, or --engine %s", Simulated, Simulated, c.Model, Simulated, Auto)
	}
	if err := ownWorker(w, c); err != nil {
		return err
	}
	if err := simulated.CheckOptions(c.Options); err != nil {
		return usagef("--set: %v", err)
	}
	w.Model, w.Device, w.LimitOn, w.VirtualClock = Simulated, Simulated, protocol.Simulated, true
	w.Precisions = simulated.Precisions
	w.DeviceName = "drawn from seed " + c.Options["device"]
	if c.Options["device"] == "" {
		w.DeviceName = "drawn from the run's seed"
	}
	w.Facts = simulatedFacts()
	return nil
}
