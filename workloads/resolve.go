package workloads

import (
	"os"
	"strconv"
	"strings"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/workloads/gorgonia"
	"autotune/workloads/model"
	"autotune/workloads/nearest"
	"autotune/workloads/simulated"
)

// WorkerCommand is the hidden subcommand of autotune that Serve answers to.
const WorkerCommand = "worker"

// Choice is what a user asked to train.
type Choice struct {
	Model   string            // a model or an alias, or simulated
	Options map[string]string // of the model, as text; those left out have their defaults
	Engine  string            // one of EngineNames; empty: auto
	Device  string            // cpu; empty: cpu
}

// Resolve checks a choice and gives the workload, whose worker is this very
// program. Errors are *harness.UsageError, or a *harness.ExitError of the kind
// harness.ErrNoEngine where the engine or the device is not there.
func Resolve(c Choice) (harness.Workload, error) {
	if err := checkDevice(c.Device); err != nil {
		return harness.Workload{}, err
	}
	engine, reason, err := chooseEngine(c)
	if err != nil {
		return harness.Workload{}, err
	}
	program, err := os.Executable()
	if err != nil {
		return harness.Workload{}, unavailable("this program's own file, which workers are started from, cannot be found: %w", err)
	}
	w := harness.Workload{
		Command:      []string{program, WorkerCommand, "--engine", engine},
		Options:      c.Options,
		Engine:       engine,
		EngineReason: reason,
	}
	if engine == Simulated {
		err = describeSimulated(&w, c)
	} else {
		err = describeGorgonia(&w, c)
	}
	return w, err
}

// checkDevice refuses devices that no engine of this version trains on.
func checkDevice(device string) error {
	kind, index, numbered := strings.Cut(device, ":")
	if _, err := strconv.ParseUint(index, 10, 16); kind == "cuda" && (!numbered || err == nil) {
		return unavailable("--device %s: no engine of this version trains on a GPU; use --device cpu", device)
	}
	if device != "cpu" && device != "" {
		return usagef("--device %s: unknown; it is cpu, cuda or cuda:N%s", device,
			nearest.Question(device, []string{"cpu", "cuda"}, ""))
	}
	return nil
}

// describeGorgonia fills in what is known of a built-in model on the CPU.
func describeGorgonia(w *harness.Workload, c Choice) error {
	if c.Model == Simulated {
		return usagef("--engine %s does not train the model %s; use --engine %s", w.Engine, c.Model, Simulated)
	}
	name, err := model.Resolve(c.Model, "cpu")
	if err != nil {
		return usagef("--model %s: %v", c.Model, err)
	}
	graph, err := model.Build(name, c.Options)
	if err != nil {
		return usagef("--set: %v", err)
	}
	w.Model, w.Device, w.LimitOn = name, "cpu", protocol.Resident
	w.Precisions = gorgonia.NewEngine().Ready().Precisions
	w.DeviceName = cpuName()
	w.Facts = factsOf(graph)
	return nil
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
	if err := simulated.CheckOptions(c.Options); err != nil {
		return usagef("--set: %v", err)
	}
	w.Model, w.Device, w.LimitOn = Simulated, Simulated, protocol.Simulated
	w.Precisions = simulated.Precisions
	w.DeviceName = "drawn from seed " + c.Options["device"]
	if c.Options["device"] == "" {
		w.DeviceName = "drawn from the run's seed"
	}
	w.Facts = simulatedFacts()
	return nil
}
