package workloads

import (
	"context"
	"strings"

	"autotune/harness"
	"autotune/workloads/pytorch"
)

// describePyTorch fills in what an interpreter says of the model and of the device.
func describePyTorch(ctx context.Context, w *harness.Workload, c Choice) error {
	if c.Model == Simulated {
		return usagef("--engine %s does not train the model %s; use --engine %s", w.Engine, c.Model, Simulated)
	}
	in, err := pytorch.FindInterpreter(c.Python)
	if err != nil {
		return err
	}
	asked := pytorch.Choice{Model: c.Model, Options: c.Options, Classes: c.Classes, Device: c.Device, Precisions: c.Precisions}
	if asked.Device == "" {
		if asked.Device, err = pytorch.DefaultDevice(ctx, in); err != nil {
			return err
		}
	}
	if pytorch.Names(c.Model) {
		err = askShape(&asked, c)
	} else {
		err = askGraph(&asked, w, c)
	}
	if err != nil {
		return err
	}
	if err := pytorch.Describe(ctx, w, in, asked); err != nil {
		return err
	}
	if w.Device == cpu {
		w.DeviceName = cpuName()
	}
	return nil
}

// askShape reads the shape of a sample where one is given.
func askShape(asked *pytorch.Choice, c Choice) error {
	if c.Input == "" {
		return nil
	}
	shape, err := ParseShape(c.Input)
	if err != nil {
		return usagef("--input: %v", err)
	}
	asked.InputShape = shape
	return nil
}

// askGraph builds a built-in model, whose input and classes are options of its own.
func askGraph(asked *pytorch.Choice, w *harness.Workload, c Choice) error {
	if c.Input != "" || c.Classes != 0 {
		return usagef("--input and --classes are for models of PyTorch; %s is built in, and has --set alone (autotune models)", c.Model)
	}
	kind, _, _ := strings.Cut(asked.Device, ":")
	name, graph, err := buildGraph(c, kind)
	if err != nil {
		return err
	}
	asked.Model, asked.Graph = name, graph
	w.Facts = factsOf(graph)
	return nil
}
