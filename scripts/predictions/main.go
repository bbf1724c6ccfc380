// Predictions holds the memory that the engine pytorch predicts against what real
// training takes: the peak of tensors on the CPU, of torchvision's models and of the
// built-in gpt. Each row is one worker that runs two optimizer steps whose
// tensors are counted, and then predicts. A prediction is two passes of fake tensors, at two
// sizes; the seconds are half of what it took, by the clock and of processor time (which
// tells more where other programs run too), without the imports that the steps have made.
//
//	go run ./scripts/predictions --python "$(scripts/torch-venv)"
//	go run ./scripts/predictions --python "$(scripts/torch-venv)" --only gpt
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/workloads"
)

// models are what is predicted, each with a size whose steps take a few seconds on a small machine.
var models = []struct {
	name  string
	batch int
}{
	{"torchvision:resnet18", 8},
	{"torchvision:resnet50", 4},
	{"torchvision:mobilenet_v3_small", 16},
	{"torchvision:vit_b_16", 2},
	{"gpt", 16},
}

// variants are how each is trained.
var variants = []struct{ optimizer, precision string }{
	{"momentum", "fp32"},
	{"adam", "fp32"},
	{"momentum", "bf16"},
}

// goal is the part of the measured peak by which a prediction may be off.
const goal = 0.03

func main() {
	python := flag.String("python", "", "`FILE`, the interpreter with torch and torchvision")
	only := flag.String("only", "", "predict the models whose name has this `TEXT` alone")
	flag.Parse()
	within, err := compare(context.Background(), *python, *only)
	if err != nil {
		fmt.Fprintln(os.Stderr, "predictions:", err)
		os.Exit(1)
	}
	if !within {
		os.Exit(1)
	}
}

// compare prints a row for each model and variant, and says whether all are within the goal.
func compare(ctx context.Context, python, only string) (bool, error) {
	within, headed := true, false
	for _, m := range models {
		if !strings.Contains(m.name, only) {
			continue
		}
		w, err := workloads.Resolve(ctx, workloads.Choice{Model: m.name, Engine: workloads.PyTorch, Python: python, Device: "cpu"})
		if err != nil {
			return false, err
		}
		if !headed {
			printHead(w)
			headed = true
		}
		for _, v := range variants {
			if !slices.Contains(w.Precisions, v.precision) {
				fmt.Printf("| %s | %s, %s | %d | this machine has no %s | | | | |\n", m.name, v.optimizer, v.precision, m.batch, v.precision)
				continue
			}
			work := protocol.Work{
				Model: w.Model, Graph: w.Graph, Optimizer: v.optimizer, Seed: 1, Precision: v.precision, Accumulation: 1,
			}
			r, err := both(w, work, m.batch)
			if err != nil {
				return false, fmt.Errorf("%s, %s, %s: %w", m.name, v.optimizer, v.precision, err)
			}
			off := float64(r.predicted)/float64(r.measured) - 1
			within = within && math.Abs(off) <= goal
			fmt.Printf("| %s | %s, %s | %d | %d | %d | %+.3f%% | %.1f | %.1f |\n", m.name, v.optimizer, v.precision, m.batch,
				r.predicted, r.measured, off*100, r.seconds/2, r.processor/2)
		}
	}
	return within, nil
}

func printHead(w harness.Workload) {
	environment := harness.ReadEnvironment()
	var versions []string
	for _, name := range []string{"python", "torch"} {
		versions = append(versions, name+" "+w.Versions[name])
	}
	fmt.Printf("%s, %s, %d cores, load %s, %s\n\n",
		time.Now().UTC().Format(time.DateOnly), w.DeviceName, environment.Cores, load(), strings.Join(versions, ", "))
	fmt.Println("| model | trained with | micro-batch | predicted bytes | measured bytes | error | seconds a size | processor seconds |")
	fmt.Println("| --- | --- | --- | --- | --- | --- | --- | --- |")
}

// load is how many processes wanted a processor in the last minute (proc(5), loadavg).
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}
