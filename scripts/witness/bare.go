package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"time"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/workloads"
	"autotune/workloads/gorgonia"
)

// bare is what a bare loop gave of its timed steps.
type bare struct {
	Steps   []float64 `json:"steps"`   // seconds of each
	Seconds float64   `json:"seconds"` // of all by the wall clock
	Samples int       `json:"samples"` // in all
}

// trial is the trial that the bare loop has the steps of.
func (j job) trial(w harness.Workload) protocol.Trial {
	return protocol.Trial{
		Work: protocol.Work{
			Model: w.Model, Graph: w.Graph, InputShape: w.InputShape, Classes: w.Classes, Options: w.Options,
			Optimizer: "sgd", Seed: 1, Precision: "fp32", Accumulation: 1,
		},
		MicroBatch: j.batch, WarmupSteps: max(1, w.WarmupSteps), Steps: harness.SoakSteps, Seconds: j.seconds,
	}
}

// runBare runs the bare loop in a process of its own.
func runBare(j job, w harness.Workload) (bare, error) {
	trial, err := json.Marshal(j.trial(w))
	if err != nil {
		return bare{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return bare{}, err
	}
	c := exec.Command(self, "-bare", j.choice.Model, "-batch", fmt.Sprint(j.batch), "-seconds", fmt.Sprint(j.seconds))
	if w.Engine == workloads.PyTorch {
		c = exec.Command(j.choice.Python, "scripts/witness/bare.py")
		c.Env = append(os.Environ(), "PYTHONPATH=workloads/pytorch")
	}
	c.Stdin, c.Stderr = bytes.NewReader(trial), os.Stderr
	out, err := c.Output()
	if err != nil {
		return bare{}, err
	}
	var b bare
	return b, json.Unmarshal(out, &b)
}

// bareLoop runs the steps of the engine gorgonia without a harness and prints what they gave.
func bareLoop(j job) error {
	var b bare
	begun := time.Now()
	_, err := gorgonia.NewEngine().Run(j.trial(harness.Workload{Model: j.choice.Model}), func(s protocol.Step) error {
		if s.Warmup {
			begun = time.Now()
			return nil
		}
		b.Steps, b.Samples = append(b.Steps, s.Seconds), b.Samples+s.Samples
		b.Seconds = time.Since(begun).Seconds()
		return nil
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(b)
}
