// Overhead measures what the harness costs: the same training steps as a trial
// of the harness and as a bare loop in a process of its own, in turn, several
// times. Printed are the harness's overhead (the trial's wall time outside its
// steps, plus the harness's own processor time, over the time in steps) and the
// ratio of the step times with its 95% interval.
//
//	go run ./scripts/overhead
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"time"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/tuner"
	"autotune/tuner/stats"
	"autotune/workloads"
	"autotune/workloads/gorgonia"
)

// what is run on both sides.
type job struct {
	model   string
	batch   int
	seconds float64
}

func main() {
	var j job
	flag.StringVar(&j.model, "model", "mlp", "`NAME` of the model that is trained")
	flag.IntVar(&j.batch, "batch", 64, "micro-batch, `SIZE`")
	flag.Float64Var(&j.seconds, "seconds", 10, "timed `SECONDS` of a trial")
	pairs := flag.Int("pairs", 6, "`COUNT` of trials on each side")
	bare := flag.Bool("bare", false, "run the bare loop and print its step times (what the script starts)")
	flag.Parse()
	var err error
	switch {
	case flag.Arg(0) == workloads.WorkerCommand:
		err = workloads.Serve(workloads.Gorgonia, os.NewFile(3, "trials"), os.NewFile(4, "results"))
	case *bare:
		err = bareLoop(j)
	default:
		err = compare(j, *pairs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(1)
	}
}

// bareLoop runs the steps without a harness and prints their times in seconds.
func bareLoop(j job) error {
	engine := gorgonia.NewEngine()
	var steps []float64
	_, err := engine.Run(protocol.Trial{
		Work:        protocol.Work{Model: j.model, Optimizer: "sgd", Seed: 1, Precision: "fp32", Accumulation: 1},
		MicroBatch:  j.batch,
		WarmupSteps: 1, Steps: harness.SoakSteps, Seconds: j.seconds,
	}, func(s protocol.Step) error {
		if !s.Warmup {
			steps = append(steps, s.Seconds)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(steps)
}

// compare runs both sides in turn and prints what they gave.
func compare(j job, pairs int) error {
	plan, workload, err := prepare(j)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s, %d cores; %s, micro-batch %d, fp32, trials of %g s\n\n", time.Now().UTC().Format(time.DateOnly),
		*plan.Header.Environment.CPUModel, plan.Header.Environment.Cores, j.model, j.batch, j.seconds)
	fmt.Println("pair  harness ms/step  bare ms/step  outside steps s  harness CPU s  overhead")
	var inHarness, inBare, overheads []float64
	for pair := 1; pair <= pairs; pair++ {
		trial, err := harnessTrial(plan, workload)
		if err != nil {
			return err
		}
		steps, err := bareSteps(j)
		if err != nil {
			return err
		}
		inSteps := sum(trial.WarmupSeconds) + sum(trial.StepSeconds)
		outside := trial.WallSeconds - inSteps
		overhead := (outside + trial.HarnessCPUSeconds) / inSteps
		h, b := median(trial.StepSeconds), median(steps)
		inHarness, inBare, overheads = append(inHarness, h), append(inBare, b), append(overheads, overhead)
		fmt.Printf("%4d  %15.2f  %12.2f  %15.3f  %13.3f  %7.2f%%\n", pair, h*1e3, b*1e3, outside, trial.HarnessCPUSeconds, overhead*100)
	}
	ratio, err := stats.CompareRatio(inBare, inHarness)
	if err != nil {
		return err
	}
	fmt.Printf("\noverhead: median %.2f%%\nstep time, harness to bare: %.4f (95%% interval %.4f to %.4f)\n",
		median(overheads)*100, ratio.Ratio, ratio.Low, ratio.High)
	return nil
}

// prepare plans a run of one configuration whose soak is the trial that is looked at.
func prepare(j job) (harness.Plan, harness.Workload, error) {
	w, err := workloads.Resolve(context.Background(), workloads.Choice{Model: j.model, Engine: workloads.Gorgonia})
	if err != nil {
		return harness.Plan{}, w, err
	}
	plan, err := harness.NewPlan(harness.Settings{
		Command: harness.CommandTune, Model: j.model, Batch: fmt.Sprint(j.batch), GlobalBatch: fmt.Sprint(j.batch),
		Optimizer: "sgd", Soak: j.seconds, Seed: 1, TrialTimeout: 600,
	}, w, harness.ReadEnvironment())
	return plan, w, err
}

// harnessTrial makes the run and gives its soak.
func harnessTrial(plan harness.Plan, w harness.Workload) (harness.TrialRecord, error) {
	dir, err := os.MkdirTemp("", "overhead")
	if err != nil {
		return harness.TrialRecord{}, err
	}
	defer os.RemoveAll(dir)
	run, err := harness.Tune(context.Background(), harness.Options{Dir: dir, Plan: plan, Workload: w})
	if err != nil {
		return harness.TrialRecord{}, err
	}
	last := run.Trials[len(run.Trials)-1]
	if last.Purpose != tuner.Soak {
		return last, fmt.Errorf("the run ended with a trial for %s, not with the soak", last.Purpose)
	}
	return last, nil
}

// bareSteps runs the bare loop in a process of its own and gives its step times in seconds.
func bareSteps(j job) ([]float64, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(self, "-bare", "-model", j.model, "-batch", fmt.Sprint(j.batch), "-seconds", fmt.Sprint(j.seconds))
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("the bare loop: %w", err)
	}
	var steps []float64
	return steps, json.Unmarshal(out, &steps)
}

// median is the median of figures of which there is one at least.
func median(values []float64) float64 {
	m, err := stats.Median(values)
	if err != nil {
		panic(err)
	}
	return m
}

// sum adds figures up.
func sum(values []float64) float64 {
	var total float64
	for _, v := range values {
		total += v
	}
	return total
}
