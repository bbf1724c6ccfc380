package tuner

import "fmt"

// Config is one point of the space: what one trial trains with.
type Config struct {
	// Precision is the number format: fp64, fp32, tf32, bf16 or fp16.
	Precision string `json:"precision"`
	// MicroBatch is the number of samples in one forward and backward pass, 1 or more.
	MicroBatch int `json:"micro_batch"`
	// Accumulation is the number of passes per optimizer step, 1 or more.
	Accumulation int `json:"accumulation_steps"`
	// Knobs names the other choices of the workload as "name=value" pairs,
	// sorted by name and joined by commas. Empty: none.
	Knobs string `json:"knobs,omitempty"`
}

// Samples is the number of samples in one optimizer step on one device:
// micro-batch times accumulation steps (the global batch at world size 1).
func (c Config) Samples() int { return c.MicroBatch * c.Accumulation }

// Set is the precision and knob set that the configuration belongs to.
func (c Config) Set() Set { return Set{Precision: c.Precision, Knobs: c.Knobs} }

// String is the configuration as people write it, such as "fp32 32x4" for
// micro-batch 32 and 4 accumulation steps.
func (c Config) String() string {
	return fmt.Sprintf("%s %dx%d", c.Set(), c.MicroBatch, c.Accumulation)
}

// Set is one precision with one choice of knobs. Each set has a border of its own.
type Set struct {
	Precision string `json:"precision"`
	Knobs     string `json:"knobs,omitempty"`
}

// String is the precision, followed by the knobs in brackets where there are any.
func (s Set) String() string {
	if s.Knobs == "" {
		return s.Precision
	}
	return s.Precision + " [" + s.Knobs + "]"
}
