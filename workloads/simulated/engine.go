package simulated

import (
	"time"

	"autotune/harness/protocol"
	"autotune/tuner"
)

// engine serves devices over the worker protocol.
type engine struct{}

// NewEngine is an engine for protocol.Serve with the one model "simulated", whose
// options are Settings. The seconds of its steps are simulated, its only counter
// is protocol.Simulated, and its losses fall whatever the configuration.
//
// A trial whose peak is above the device's memory fails as on a CUDA card, and
// its peak is not known. A memory limit below that is not enforced: the peak is
// reported, and the harness judges it.
func NewEngine() protocol.Engine { return engine{} }

// Ready says what every device can do.
func (engine) Ready() protocol.Ready {
	return protocol.Ready{
		Engine: "simulated", Device: "simulated",
		Precisions: Precisions, Counters: []string{protocol.Simulated},
	}
}

// Run runs one trial on the device that its options name.
func (engine) Run(t protocol.Trial, report func(protocol.Step) error) (protocol.Done, error) {
	s, err := readSettings(t.Options, t.Seed)
	if err != nil {
		return protocol.Done{}, &protocol.Error{Type: "simulated.OptionError", Phase: "build", Err: err}
	}
	d, err := NewDevice(s.device, s.options)
	if err != nil {
		return protocol.Done{}, &protocol.Error{Type: "simulated.OptionError", Phase: "build", Err: err}
	}
	c := tuner.Config{Precision: t.Precision, MicroBatch: t.MicroBatch, Accumulation: t.Accumulation, Knobs: t.Knobs}
	a, err := d.begin(t.Number, c)
	if err != nil {
		return protocol.Done{}, &protocol.Error{Type: "simulated.ConfigError", Phase: "build", Err: err}
	}
	if a.failure != nil {
		s.sleep(a.until * a.step())
		return protocol.Done{}, a.failure
	}
	steps, err := s.steps(t, a, report)
	return protocol.Done{
		StepsRun: steps,
		Memory: protocol.Memory{
			Baseline: map[string]int64{protocol.Simulated: 0},
			Peak:     map[string]int64{protocol.Simulated: a.peak},
			Reset:    true,
		},
	}, err
}

// steps reports the steps of an attempt that does not fail, and gives how many it reported.
func (s settings) steps(t protocol.Trial, a attempt, report func(protocol.Step) error) (int, error) {
	var timed float64
	n := 0
	for ; n < t.WarmupSteps+t.Steps || timed < t.Seconds; n++ {
		loss := 1 / float64(n+1)
		step := protocol.Step{
			Warmup: n < t.WarmupSteps, Seconds: a.step(), Loss: &loss,
			Samples: t.MicroBatch * t.Accumulation,
		}
		if !step.Warmup {
			timed += step.Seconds
		}
		s.sleep(step.Seconds)
		if !s.misbehaveIn(&step, t.MicroBatch) {
			return n, nil
		}
		if err := report(step); err != nil {
			return n, err
		}
	}
	return n, nil
}

// sleep takes the real time that the option "pace" asks for.
func (s settings) sleep(seconds float64) {
	time.Sleep(time.Duration(s.pace * seconds * float64(time.Second)))
}
