// Overhead measures what the harness costs: the same training steps as a trial
// of the harness and as a bare loop in a process of its own, in turn, several
// times. Printed are the harness's overhead (the trial's wall time outside its
// steps, plus the harness's own processor time, over the time in steps; the
// worker is a fresh one, so that its start counts: two seconds for PyTorch), the
// ratio of the step times and that of the throughputs: the one that is reported,
// and the bare loop's by its wall clock. Both with 95% intervals.
//
//	go run ./scripts/overhead
//	go run ./scripts/overhead --engine pytorch --python "$(scripts/torch-venv)" --model torchvision:resnet18 --input 3,64,64 --batch 32
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"autotune/harness"
	"autotune/tuner"
	"autotune/tuner/stats"
	"autotune/workloads"
)

// The goals, as parts of 1, by which the ratios may differ from 1.
const (
	stepGoal       = 0.01
	throughputGoal = 0.02
)

// job is what is run on both sides.
type job struct {
	choice  workloads.Choice
	batch   int
	seconds float64
}

func main() {
	var j job
	flag.StringVar(&j.choice.Model, "model", "mlp", "`NAME` of the model that is trained")
	flag.StringVar(&j.choice.Engine, "engine", workloads.Gorgonia, "`NAME` of the engine: gorgonia or pytorch")
	flag.StringVar(&j.choice.Python, "python", "", "`FILE`, the interpreter for pytorch")
	flag.StringVar(&j.choice.Input, "input", "", "`SHAPE` of a sample, for a model of pytorch")
	flag.IntVar(&j.batch, "batch", 64, "micro-batch, `SIZE`")
	flag.Float64Var(&j.seconds, "seconds", 10, "timed `SECONDS` of a trial")
	pairs := flag.Int("pairs", 6, "`COUNT` of trials on each side")
	alone := flag.Bool("bare", false, "run the bare loop of the engine gorgonia alone (what the script starts)")
	flag.Parse()
	j.choice.Device = "cpu"
	var err error
	switch {
	case flag.Arg(0) == workloads.WorkerCommand:
		err = workloads.Serve(workloads.Gorgonia, os.NewFile(3, "trials"), os.NewFile(4, "results"))
	case *alone:
		err = bareLoop(j)
	default:
		err = compare(j, *pairs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(1)
	}
}

// compare runs both sides in turn and prints what they gave.
func compare(j job, pairs int) error {
	plan, workload, err := prepare(j)
	if err != nil {
		return err
	}
	fmt.Printf("%s, %s, %d cores; %s; %s, micro-batch %d, fp32, trials of %g s\n\n", time.Now().UTC().Format(time.DateOnly),
		*plan.Header.Environment.CPUModel, plan.Header.Environment.Cores, library(workload), j.choice.Model, j.batch, j.seconds)
	fmt.Println("pair  harness ms/step  bare ms/step  outside steps s  harness CPU s  overhead  reported samples/s  bare samples/s")
	var steps, throughputs sides
	var overheads []float64
	for pair := 1; pair <= pairs; pair++ {
		trial, reported, err := harnessTrial(plan, workload)
		if err != nil {
			return err
		}
		b, err := runBare(j, workload)
		if err != nil {
			return fmt.Errorf("the bare loop: %w", err)
		}
		inSteps := sum(trial.WarmupSeconds) + sum(trial.StepSeconds)
		outside := trial.WallSeconds - inSteps
		overheads = append(overheads, (outside+trial.HarnessCPUSeconds)/inSteps)
		steps.add(median(b.Steps), median(trial.StepSeconds))
		throughputs.add(float64(b.Samples)/b.Seconds, reported)
		fmt.Printf("%4d  %15.2f  %12.2f  %15.3f  %13.3f  %7.2f%%  %18.1f  %14.1f\n", pair, steps.harness[pair-1]*1e3, steps.bare[pair-1]*1e3,
			outside, trial.HarnessCPUSeconds, overheads[pair-1]*100, reported, throughputs.bare[pair-1])
	}
	fmt.Printf("\noverhead: median %.2f%%\n", median(overheads)*100)
	if err := steps.print("step time, harness to bare", stepGoal); err != nil {
		return err
	}
	return throughputs.print("throughput, reported to the bare loop's by wall clock", throughputGoal)
}

// sides are the figures of both sides, one of each for every pair.
type sides struct{ bare, harness []float64 }

func (s *sides) add(bare, harness float64) {
	s.bare, s.harness = append(s.bare, bare), append(s.harness, harness)
}

// print prints the ratio of the harness's figures to the bare ones, and whether it is within the goal of 1.
func (s *sides) print(title string, goal float64) error {
	r, err := stats.CompareRatio(s.bare, s.harness)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %.4f (95%% interval %.4f to %.4f); goal within %g%%: %s\n", title, r.Ratio, r.Low, r.High, goal*100, verdict(r, goal))
	return nil
}

// verdict says whether a ratio is within the goal of 1: as far as its interval tells, which noise may make wider than the goal.
func verdict(r stats.Ratio, goal float64) string {
	low, high := 1-goal, 1+goal
	switch {
	case r.Low >= low && r.High <= high:
		return "reached"
	case r.High < low || r.Low > high:
		return "missed"
	case r.Ratio >= low && r.Ratio <= high:
		return "reached by the estimate; the interval is wider"
	case r.Contains(1):
		return "missed by the estimate; the interval contains 1"
	}
	return "missed by the estimate; the interval does not contain 1"
}

// library names the engine, with the version of the one that has another beside autotune's.
func library(w harness.Workload) string {
	if torch := w.Versions["torch"]; torch != "" {
		return w.Engine + ", torch " + torch
	}
	return w.Engine
}

// prepare plans a run of one configuration whose soak is the trial that is looked at.
func prepare(j job) (harness.Plan, harness.Workload, error) {
	if j.choice.Engine == workloads.PyTorch && j.choice.Python == "" {
		return harness.Plan{}, harness.Workload{}, errors.New("the bare loop needs --python too, such as --python \"$(scripts/torch-venv)\"")
	}
	w, err := workloads.Resolve(context.Background(), j.choice)
	if err != nil {
		return harness.Plan{}, w, err
	}
	plan, err := harness.NewPlan(harness.Settings{
		Command: harness.CommandTune, Model: j.choice.Model, Input: j.choice.Input, Engine: j.choice.Engine, Device: j.choice.Device,
		Batch: fmt.Sprint(j.batch), GlobalBatch: fmt.Sprint(j.batch), Precision: []string{"fp32"},
		Optimizer: "sgd", Soak: j.seconds, Seed: 1, TrialTimeout: 600,
	}, w, harness.ReadEnvironment())
	return plan, w, err
}

// harnessTrial makes the run and gives its soak, and the throughput that was reported for it in samples/s.
func harnessTrial(plan harness.Plan, w harness.Workload) (harness.TrialRecord, float64, error) {
	dir, err := os.MkdirTemp("", "overhead")
	if err != nil {
		return harness.TrialRecord{}, 0, err
	}
	defer os.RemoveAll(dir)
	run, err := harness.Tune(context.Background(), harness.Options{Dir: dir, Plan: plan, Workload: w})
	if err != nil {
		return harness.TrialRecord{}, 0, err
	}
	last := run.Trials[len(run.Trials)-1]
	if last.Purpose != tuner.Soak || run.Recommendation == nil {
		return last, 0, fmt.Errorf("the run ended with a trial for %s, not with the soak", last.Purpose)
	}
	return last, run.Recommendation.Throughput.Median, nil
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
