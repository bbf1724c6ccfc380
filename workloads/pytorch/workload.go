package pytorch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"autotune/harness"
	"autotune/harness/failure"
	"autotune/harness/protocol"
	"autotune/workloads/model"
)

// startTimeout is how long a worker may take to become ready: libraries that are read for the first time are slow.
const startTimeout = 120 * time.Second

// warmupSteps is the number of steps before the clock counts: an optimizer makes its state in the first.
const warmupSteps = 2

// Choice is what a user asked to train with PyTorch.
type Choice struct {
	Model      string
	Graph      *model.Graph      // of a built-in model; nil: the worker finds the model
	Options    map[string]string // of the model, as text
	InputShape []int             // of one sample; nil: by inspection
	Classes    int               // 0: by inspection
	Device     string            // cpu, cuda or cuda:N
	Precisions []string          // that were asked for
}

// Describe fills in the workload of a choice on an interpreter, which it asks once. Facts of a built-in model are the caller's.
func Describe(ctx context.Context, w *harness.Workload, in Interpreter, c Choice) error {
	w.Engine, w.Model, w.Options, w.InputShape, w.Classes = Engine, c.Model, c.Options, c.InputShape, c.Classes
	if c.Graph != nil {
		graph, err := GraphJSON(c.Graph)
		if err != nil {
			return err
		}
		w.Graph = graph
	}
	answer, err := Probe(ctx, in, ProbeRequest{Work: c.work(w), Device: c.Device})
	if err != nil {
		return err
	}
	w.Device, w.Versions = c.Device, in.versions(answer)
	if w.Device == "cpu" {
		w.Versions["threads"] = threads()
	}
	if err := describeDevice(ctx, w, in, answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return in.modelError(ctx, c.Model, answer)
	}
	if err := describePrecisions(w, answer, c.Precisions); err != nil {
		return err
	}
	w.Knobs, w.WarmupSteps, w.StartTimeout = Knobs(), warmupSteps, startTimeout
	w.Predicts, w.Unpredicted = answer.Predicts, answer.Unpredicted
	w.Prepare = func(folder string) ([]string, error) {
		worker, err := Unpack(filepath.Join(folder, "worker"))
		command := []string{in.Path, "-u", worker, "serve", "--device", w.Device}
		if name := packageOf(c.Model); name != "" {
			command = append(command, "--import", name)
		}
		return command, err
	}
	if c.Graph == nil {
		w.Facts = factsOf(answer.Model)
	}
	w.Notes = append(w.Notes, notes(answer)...)
	return nil
}

// threads is the number that the worker computes with on the CPU: one a core, unless the user says otherwise.
func threads() string {
	return cmp.Or(os.Getenv("OMP_NUM_THREADS"), strconv.Itoa(runtime.NumCPU()))
}

// modelError is what is wrong with a model: the worker's own sentence, or what the user's code raised.
func (in Interpreter) modelError(ctx context.Context, name string, answer ProbeAnswer) error {
	said := text(answer.Error)
	if answer.Error.Type != failure.TypeUsage {
		said = fmt.Sprintf("--model %s: %s", name, said)
	}
	if missing := answer.Error.Missing; missing != "" {
		said += "\n" + in.missing(ctx, missing, answer.Torch)
	}
	return usagef("%s", said)
}

// versions are those of the answer, with the interpreter's path beside its version.
func (in Interpreter) versions(answer ProbeAnswer) map[string]string {
	list := maps.Clone(answer.Versions)
	if list == nil {
		list = map[string]string{}
	}
	list["torch"] = answer.Torch
	list["python"] = strings.TrimSpace(fmt.Sprintf("%s (%s)", list["python"], in.Path))
	return list
}

// work is the choice as the worker is asked, at the least that a trial can be.
func (c Choice) work(w *harness.Workload) protocol.Work {
	return protocol.Work{Model: c.Model, Options: c.Options, Optimizer: "momentum", Seed: 1, Precision: "fp32", Accumulation: 1,
		Graph: w.Graph, InputShape: c.InputShape, Classes: c.Classes}
}

// describeDevice fills in the device, who else uses it, and what its limit holds.
func describeDevice(ctx context.Context, w *harness.Workload, in Interpreter, answer ProbeAnswer) error {
	if w.Device == "cpu" {
		w.LimitOn = protocol.Tensors
		if !older(answer.Torch, 2, 0) {
			w.LimitOnNone = protocol.Allocated // the profiler's memory events
		}
		return nil
	}
	device, err := deviceOf(w.Device, in, answer)
	if err != nil {
		return err
	}
	w.LimitOn, w.DeviceName, w.DeviceBytes = protocol.Reserved, device.Name, &device.FreeBytes
	w.DeviceBusy = device.busy(ctx)
	return nil
}

// deviceOf is the CUDA device of a name such as cuda or cuda:1.
func deviceOf(name string, in Interpreter, answer ProbeAnswer) (ProbedDevice, error) {
	if !answer.usable() {
		return ProbedDevice{}, noEngine("--device %s: torch %s of %s sees no CUDA device (autotune devices shows what is there); use --device cpu",
			name, answer.Torch, in.Path)
	}
	var names []string
	for _, device := range answer.Devices {
		own := fmt.Sprintf("cuda:%d", device.Index)
		if name == own || name == "cuda" && device.Index == 0 {
			return device, nil
		}
		names = append(names, own)
	}
	return ProbedDevice{}, noEngine("--device %s: torch %s of %s sees %s alone", name, answer.Torch, in.Path, strings.Join(names, ", "))
}

// describePrecisions fills in those that the device can do, and refuses another that was asked for with the original text.
func describePrecisions(w *harness.Workload, answer ProbeAnswer, asked []string) error {
	for _, precision := range harness.Precisions() {
		if why, known := answer.Precisions[precision]; known && why == "" {
			w.Precisions = append(w.Precisions, precision)
		}
	}
	for _, precision := range asked {
		if why := answer.Precisions[precision]; why != "" {
			return usagef("--precision: unsupported: %s: %s (on %s these run: %s)", precision, why, w.Device, strings.Join(w.Precisions, ", "))
		}
	}
	return nil
}

// packageOf is the package that a model comes from, by its name; empty: it is built in, or a file of the user's, which
// is read anew for each trial.
func packageOf(model string) string {
	name, _, named := strings.Cut(model, ":")
	if !named || strings.HasSuffix(name, ".py") {
		return ""
	}
	return name
}

// factsOf are what the worker found of a model that is not built in. It has no recipe: any global batch will do.
func factsOf(m *ProbedModel) harness.ModelFacts {
	facts := harness.ModelFacts{InputShape: []int{}, SampleUnit: "sample", RecipeOptimizer: "momentum"}
	if m == nil {
		return facts
	}
	facts.Parameters, facts.BatchNorm = m.Parameters, m.BatchNorm
	if m.OwnOptimizer {
		facts.RecipeOptimizer = harness.OwnOptimizer
	}
	facts.InputShape = append(facts.InputShape, m.InputShape...)
	if slices.Contains([]string{"image", "sequence"}, m.SampleUnit) {
		facts.SampleUnit = m.SampleUnit
	}
	return facts
}

// notes are what the user should know of the model before it runs.
func notes(answer ProbeAnswer) []string {
	var list []string
	if answer.Model != nil && answer.Model.OwnOptimizer {
		list = append(list, "The model's file makes its own optimizer: that one is used.")
	}
	if !answer.Predicts && answer.Unpredicted != "" {
		list = append(list, "Memory is not predicted: "+answer.Unpredicted+".")
	}
	return list
}
