// Package protocol is what the harness and a worker say to each other: JSON
// objects, one a line of at most 1 MiB, over two inherited pipes. docs/protocol.md
// describes it for writers of workers in other languages.
//
//	worker  -> ready
//	harness -> predict
//	worker  -> predicted | failed
//	harness -> trial
//	worker  -> step, step, ..., done | failed
//	harness -> trial ... or exit
package protocol

import "encoding/json"

// Version is the version of the protocol, in the field "v" of every message.
const Version = 1

// MaxLine is the longest line in bytes, newline included.
const MaxLine = 1 << 20

// The operations, in the field "op".
const (
	OpReady     = "ready"
	OpPredict   = "predict"
	OpPredicted = "predicted"
	OpTrial     = "trial"
	OpStep      = "step"
	OpDone      = "done"
	OpFailed    = "failed"
	OpExit      = "exit"
)

// Counters of memory, the keys of Memory.Peak and Memory.Baseline.
const (
	Resident  = "resident"  // bytes of the process in memory
	Tensors   = "tensors"   // bytes that tensors held, those inside an operation left out
	Allocated = "allocated" // bytes that the framework's allocator gave out, those inside an operation included
	Reserved  = "reserved"  // bytes that the framework's allocator held of the device
	Simulated = "simulated" // bytes of a simulated device
	// Of the whole device, as its driver sees it.
	DeviceUsed     = "device_used"     // by all processes
	OtherProcesses = "other_processes" // by other processes
	Context        = "context"         // by this process outside of the allocator: context and libraries
)

// Head begins every message.
type Head struct {
	V  int    `json:"v"`
	Op string `json:"op"`
}

// Ready is the worker's first line: what it is and what it can do.
type Ready struct {
	Head
	Engine     string            `json:"engine"`
	Device     string            `json:"device"`
	Precisions []string          `json:"precisions"`
	Counters   []string          `json:"counters"` // counters it reports in done
	Versions   map[string]string `json:"versions"` // of the libraries that train
}

// Work is what is trained, whatever the size.
type Work struct {
	Model     string            `json:"model"`
	Options   map[string]string `json:"options,omitempty"` // of the model
	Optimizer string            `json:"optimizer"`         // sgd, momentum, adam or adamw
	Seed      uint64            `json:"seed"`              // of the SplitMix64 stream that weights and data come from
	Precision string            `json:"precision"`
	// Accumulation is the number of passes in one optimizer step, 1 or more.
	Accumulation int    `json:"accumulation_steps"`
	Knobs        string `json:"knobs,omitempty"`
	// Graph is a built-in model's layers (docs/protocol.md), for engines that do not
	// know it by name; absent: the worker finds the model itself.
	Graph json.RawMessage `json:"graph,omitempty"`
	// InputShape is that of one sample and Classes the number of classes, where the
	// user gave them for a model that the worker finds itself; absent and 0: not given.
	InputShape []int `json:"input_shape,omitempty"`
	Classes    int   `json:"classes,omitempty"`
}

// Predict asks for the memory of the work without running it.
type Predict struct {
	Head
	Work
	// MicroBatches are the sizes whose peak is to be split by what holds it; empty: none.
	MicroBatches []int `json:"micro_batches,omitempty"`
}

// Predicted answers it.
type Predicted struct {
	Head
	// Counter is the counter whose peak is predicted: tensors or allocated.
	Counter string `json:"counter"`
	// Lines say the peak of every size: it is that of the highest line there.
	Lines []Line `json:"lines"`
	// Splits are in the order of the MicroBatches.
	Splits []Split `json:"splits,omitempty"`
	// RoomBytes is how much tensors can take now, as the allocator or the device
	// says where no limit is set; 0: not known.
	RoomBytes int64   `json:"room_bytes,omitempty"`
	Seconds   float64 `json:"seconds"` // that the prediction took
}

// Line is memory as a straight line over the micro-batch, in bytes.
type Line struct {
	Fixed     float64 `json:"fixed_bytes"`
	PerSample float64 `json:"bytes_per_sample"`
}

// Split is the predicted peak of one size, in bytes, by what holds it at that moment; the parts add up to Peak.
type Split struct {
	MicroBatch     int   `json:"micro_batch"`
	Peak           int64 `json:"peak_bytes"`
	Parameters     int64 `json:"parameters_bytes"` // and buffers
	Gradients      int64 `json:"gradients_bytes"`
	OptimizerState int64 `json:"optimizer_state_bytes"`
	Activations    int64 `json:"activations_bytes"` // kept for the backward pass, and the batch
	Temporary      int64 `json:"temporary_bytes"`
}

// Trial asks for one trial.
type Trial struct {
	Head
	Work
	Number      int     `json:"trial"`
	MicroBatch  int     `json:"micro_batch"`
	WarmupSteps int     `json:"warmup_steps"`
	Steps       int     `json:"steps"`   // timed steps, at least
	Seconds     float64 `json:"seconds"` // time of the timed steps, at least
	// LimitBytes is the memory limit; 0: none. A worker that can enforce it does;
	// the harness judges the measured peak in any case.
	LimitBytes int64 `json:"limit_bytes"`
}

// Step reports one optimizer step, warm-up steps included.
type Step struct {
	Head
	Warmup  bool     `json:"warmup"`
	Seconds float64  `json:"seconds"` // by the worker's own synchronised clock
	Loss    *float64 `json:"loss"`    // mean over the step's samples; null: not finite
	Samples int      `json:"samples"` // samples that the step really saw
	// DeviceSeconds is the step's time by the device's own events; null: the device has none.
	DeviceSeconds *float64 `json:"device_seconds,omitempty"`
	// HeldBytes is what was held when the step had ended: of the host the resident set, of a device what
	// tensors have there; 0: not looked at. Growth from step to step is told by it.
	HeldBytes int64 `json:"held_bytes,omitempty"`
}

// HeldEvery is the least time between two looks at what is held, in seconds: a look costs time too.
const HeldEvery = 0.05

// Done ends a trial that ran to its end.
type Done struct {
	Head
	StepsRun int `json:"steps_run"` // warm-up steps included
	// SkippedSteps is how many of them changed no weight, because a gradient of fp16 was not finite.
	SkippedSteps int    `json:"skipped_steps,omitempty"`
	Memory       Memory `json:"memory"`
}

// Memory is what a worker measured of memory in one trial.
type Memory struct {
	// Baseline and Peak map a counter to bytes; a counter that the system does not have is absent.
	Baseline map[string]int64 `json:"baseline_bytes,omitempty"`
	Peak     map[string]int64 `json:"peak_bytes,omitempty"`
	// Reset says that the peak counter was set back before the trial; where it
	// is false the peak holds for the process's whole life.
	Reset bool `json:"peak_reset"`
	// After maps a counter to bytes after the trial, when everything was let go of; absent: not measured.
	After map[string]int64 `json:"after_bytes,omitempty"`
	// AllocatorRetries is how often the allocator gave its cache back to the device and asked again.
	AllocatorRetries int64 `json:"allocator_retries,omitempty"`
}

// Failed ends a trial that failed. It carries what was seen, not what it means.
type Failed struct {
	Head
	Type   string  `json:"type"`  // the exception's type
	Phase  string  `json:"phase"` // start, predict, build, warmup, forward, backward, optimizer, step
	Text   string  `json:"text"`  // the original text
	Memory *Memory `json:"memory,omitempty"`
	// Samples is the number of samples that came in a micro-batch where Type says that it was not as many as asked; 0: not said.
	Samples int `json:"samples,omitempty"`
}

// Exit asks the worker to end with exit code 0.
type Exit struct {
	Head
}
