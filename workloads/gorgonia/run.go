package gorgonia

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"autotune/harness/protocol"
	"autotune/workloads/model"
)

// run is one trial in one precision.
func run[T model.Float](t protocol.Trial, graph *model.Graph, report func(protocol.Step) error) (done protocol.Done, err error) {
	// The collector runs at the fixed points below, whatever was allocated.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	gauge, err := startGauge()
	if err != nil {
		return done, fail(err, phaseBuild)
	}
	done.StepsRun, err = train[T](t, graph, report)
	memory, unread := gauge.read()
	if done.Memory = memory; err == nil && unread != nil {
		err = fail(unread, phaseStep)
	}
	return done, err
}

// train builds and runs the steps. A panic becomes an error with the phase that it came in; its stack goes to stderr.
func train[T model.Float](t protocol.Trial, graph *model.Graph, report func(protocol.Step) error) (stepsRun int, err error) {
	phase := phaseBuild
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n\n%s", p, debug.Stack())
			err = &protocol.Error{Type: protocol.TypePanic, Phase: phase, Err: fmt.Errorf("%v", p)}
		}
	}()
	tr, err := newTrainer[T](t, graph)
	if err != nil {
		return 0, fail(err, phase)
	}
	defer tr.close()
	return steps(t, tr, &phase, report)
}

// steps runs the warm-up steps, and then timed steps until both their number and
// their time are reached. It gives the number of all steps.
func steps[T model.Float](t protocol.Trial, tr *trainer[T], phase *string, report func(protocol.Step) error) (int, error) {
	var n, timed int
	var seconds float64
	var looked time.Time // when what is held was
	for timed < t.Steps || seconds < t.Seconds {
		warmup := n < t.WarmupSteps
		if *phase = phaseStep; warmup {
			*phase = phaseWarmup
		}
		start := time.Now()
		loss, samples, err := tr.step(phase)
		if err != nil {
			return n, fail(err, *phase)
		}
		took := time.Since(start).Seconds()
		n++
		if !warmup {
			timed++
			seconds += took
		}
		step := protocol.Step{Warmup: warmup, Seconds: took, Loss: protocol.Finite(loss), Samples: samples}
		if !warmup && time.Since(looked).Seconds() >= protocol.HeldEvery {
			looked = time.Now()
			step.HeldBytes, _ = readResident() // 0 where it cannot be read
		}
		if err := report(step); err != nil {
			return n, err
		}
	}
	return n, nil
}

// trainer holds what a trial trains with.
type trainer[T model.Float] struct {
	accumulation int
	net          *network
	data         *pool[T]
	optimizer    *optimizer[T]
}

// newTrainer makes weights, data and the program. Garbage is collected after each
// part, so that building does not set the peak where it need not.
func newTrainer[T model.Float](t protocol.Trial, graph *model.Graph) (*trainer[T], error) {
	data := newPool[T](graph, t.Seed, t.MicroBatch)
	runtime.GC()
	net, err := lower[T](graph, t.MicroBatch, t.Accumulation, t.Seed)
	if err != nil {
		return nil, err
	}
	runtime.GC()
	opt := newOptimizer[T](t.Optimizer, graph, t.MicroBatch*t.Accumulation)
	return &trainer[T]{accumulation: t.Accumulation, net: net, data: data, optimizer: opt}, nil
}

// step is one optimizer step: it gives the mean loss over the samples that it saw, and their number.
func (tr *trainer[T]) step(phase *string) (loss float64, samples int, err error) {
	for range tr.accumulation {
		samples += tr.data.next(tr.net)
		part, err := tr.net.pass()
		if err != nil {
			return 0, samples, err
		}
		loss += part // each pass's loss is divided by the number of passes
		collect()
	}
	before := *phase
	*phase = phaseOptimizer
	if err := tr.optimizer.step(tr.net); err != nil {
		return 0, samples, err
	}
	*phase = before
	return loss, samples, nil
}

func (tr *trainer[T]) close() { tr.net.close() }
