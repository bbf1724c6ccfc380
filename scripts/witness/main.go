// Witness holds what autotune reports against witnesses that share none of its code: the
// throughput against a plain loop of the same steps and the wall clock, in turn, and the
// peak of memory against the anonymous memory of the worker as it is sampled from outside
// and against the high-water mark of a control group that holds the worker alone.
//
//	go run ./scripts/witness --python "$(scripts/torch-venv)" --write     all models, into docs/measuring.md
//	go run ./scripts/witness --only mlp --pairs 3                        one model of the built-in engine
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"autotune/harness"
	"autotune/scripts/marked"
	"autotune/workloads"
)

// document is the file that --write puts the tables into.
const document = "docs/measuring.md"

// job is what is run on both sides.
type job struct {
	choice      workloads.Choice
	batch       int // of the pairs
	memoryBatch int // of the trial whose memory is watched: large enough for 200 MB
	seconds     float64
}

// jobs are the models of the tables.
func jobs(python string, seconds float64) []job {
	builtIn := func(model string, batch, memoryBatch int) job {
		return job{workloads.Choice{Model: model, Engine: workloads.Gorgonia, Device: "cpu"}, batch, memoryBatch, seconds}
	}
	resnet18 := workloads.Choice{Model: "torchvision:resnet18", Input: "3,64,64", Engine: workloads.PyTorch, Device: "cpu", Python: python}
	return []job{builtIn("mlp", 64, 16384), builtIn("resnet20", 16, 64), builtIn("gpt", 4, 16), {resnet18, 32, 64, seconds}}
}

func main() {
	var bareJob job
	only := flag.String("only", "", "`NAME` of the one model")
	python := flag.String("python", "", "`FILE`, the interpreter for the models of PyTorch; without it they are left out")
	pairs := flag.Int("pairs", 6, "`COUNT` of trials on each side")
	seconds := flag.Float64("seconds", 10, "timed `SECONDS` of a trial")
	write := flag.Bool("write", false, "put the tables into "+document)
	flag.StringVar(&bareJob.choice.Model, "bare", "", "run the plain loop of a built-in model (what the script starts)")
	flag.IntVar(&bareJob.batch, "batch", 0, "its micro-batch")
	flag.Parse()
	bareJob.seconds = *seconds
	var err error
	switch {
	case flag.Arg(0) == workloads.WorkerCommand:
		err = workloads.Serve(workloads.Gorgonia, os.NewFile(3, "trials"), os.NewFile(4, "results"))
	case flag.Arg(0) == enterCommand:
		err = enter(flag.Args()[1:])
	case bareJob.choice.Model != "":
		err = bareLoop(bareJob)
	default:
		err = witness(chosen(jobs(*python, *seconds), *only), *pairs, *write)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "witness:", err)
		os.Exit(1)
	}
}

// chosen leaves out the models that are not asked for, and those that no interpreter was named for.
func chosen(all []job, only string) []job {
	var list []job
	for _, j := range all {
		runs := j.choice.Engine != workloads.PyTorch || j.choice.Python != ""
		if runs && (only == "" || j.choice.Model == only) {
			list = append(list, j)
		}
	}
	return list
}

// witness makes the tables.
func witness(list []job, pairs int, write bool) error {
	if len(list) == 0 {
		return fmt.Errorf("no model is left: --only names one that is not there, or --python is missing")
	}
	var tables bytes.Buffer
	out := io.MultiWriter(os.Stdout, &tables)
	env := harness.ReadEnvironment()
	fmt.Fprintf(out, "Made by `go run ./scripts/witness` on %s on %d cores of %s, fp32, SGD; %d pairs of trials of at least %g s.\n\n",
		time.Now().UTC().Format(time.DateOnly), env.Cores, *env.CPUModel, pairs, list[0].seconds)
	for _, table := range []func(io.Writer, []job, int) error{throughputs, peaks} {
		if err := table(out, list, pairs); err != nil {
			return err
		}
	}
	if !write {
		return nil
	}
	return marked.Put(document, "witness", tables.String())
}

// prepare plans a run of one configuration whose soak is the trial that is looked at.
func prepare(j job, batch int, limit string) (harness.Plan, harness.Workload, error) {
	w, err := workloads.Resolve(context.Background(), j.choice)
	if err != nil {
		return harness.Plan{}, w, err
	}
	plan, err := harness.NewPlan(harness.Settings{
		Command: harness.CommandTune, Model: j.choice.Model, Input: j.choice.Input, Engine: j.choice.Engine, Device: j.choice.Device,
		Batch: fmt.Sprint(batch), GlobalBatch: fmt.Sprint(batch), Precision: []string{"fp32"}, MemoryLimit: limit,
		Optimizer: "sgd", Soak: j.seconds, Seed: 1, TrialTimeout: 600,
	}, w, harness.ReadEnvironment())
	return plan, w, err
}

// name is the model with its engine.
func (j job) name() string { return fmt.Sprintf("%s, %s", j.choice.Model, j.choice.Engine) }
