package gorgonia

import (
	"errors"
	"fmt"
	"runtime/debug"

	// Gorgonia needs it to start on a Go that is newer than it.
	_ "go4.org/unsafe/assume-no-moving-gc"

	"autotune/harness/protocol"
	"autotune/workloads/model"
)

// The precisions that the engine trains in.
const (
	fp32 = "fp32"
	fp64 = "fp64"
)

type engine struct{}

// NewEngine makes the engine. It runs one trial at a time, and has a process to
// itself: while a trial runs, it holds back the process's garbage collector.
func NewEngine() protocol.Engine {
	return engine{}
}

// Ready says that the engine trains in fp32 and fp64 on the CPU.
func (engine) Ready() protocol.Ready {
	r := protocol.Ready{
		Engine:     "gorgonia",
		Device:     "cpu",
		Precisions: []string{fp32, fp64},
		Versions:   versions("gorgonia.org/gorgonia", "gorgonia.org/tensor", "gonum.org/v1/gonum"),
	}
	if canReadMemory() {
		r.Counters = []string{protocol.Resident}
	}
	return r
}

// versions are those of the modules that the program was built with; a module that the build does not name is left out.
func versions(modules ...string) map[string]string {
	v := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, dep := range info.Deps {
		for _, m := range modules {
			if dep.Path == m {
				v[m] = dep.Version
			}
		}
	}
	return v
}

// Run trains as the trial asks. What it cannot do is an *protocol.Error of the
// type "unsupported"; other failures carry their phase too.
func (engine) Run(t protocol.Trial, report func(protocol.Step) error) (protocol.Done, error) {
	graph, err := check(t)
	if err != nil {
		return protocol.Done{}, err
	}
	if t.Precision == fp64 {
		return run[float64](t, graph, report)
	}
	return run[float32](t, graph, report)
}

// check refuses what the engine cannot run, before any memory is used.
func check(t protocol.Trial) (*model.Graph, error) {
	if t.Precision != fp32 && t.Precision != fp64 {
		return nil, unsupported("precision %q: this engine trains in %s and %s", t.Precision, fp32, fp64)
	}
	if t.Knobs != "" {
		return nil, unsupported("knobs %q: this engine has none", t.Knobs)
	}
	if !knownOptimizer(t.Optimizer) {
		return nil, unsupported("optimizer %q: this engine has sgd, momentum, adam and adamw", t.Optimizer)
	}
	for _, n := range []struct {
		name  string
		value int
		least int
	}{
		{"micro_batch", t.MicroBatch, 1}, {"accumulation_steps", t.Accumulation, 1},
		{"steps", t.Steps, 1}, {"warmup_steps", t.WarmupSteps, 0},
	} {
		if n.value < n.least {
			return nil, invalid(fmt.Errorf("%s is %d; it must be %d or more", n.name, n.value, n.least))
		}
	}
	graph, err := model.Build(t.Model, t.Options)
	if err != nil {
		return nil, invalid(err)
	}
	return graph, nil
}

func unsupported(format string, args ...any) error {
	return &protocol.Error{Type: protocol.TypeUnsupported, Phase: phaseBuild, Err: fmt.Errorf(format, args...)}
}

func invalid(err error) error {
	return &protocol.Error{Type: "invalid", Phase: phaseBuild, Err: err}
}

// The phases of a trial. Forward and backward pass are one program of the tape
// machine; a failure in either is one of the step.
const (
	phaseBuild     = "build"
	phaseWarmup    = "warmup"
	phaseStep      = "step"
	phaseOptimizer = "optimizer"
)

// fail gives an error the phase, where it has none yet.
func fail(err error, phase string) error {
	var known *protocol.Error
	if errors.As(err, &known) {
		return err
	}
	return &protocol.Error{Type: "error", Phase: phase, Err: err}
}
