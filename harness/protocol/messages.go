// Package protocol is what the harness and a worker say to each other: JSON
// objects, one a line of at most 1 MiB, over two inherited pipes. docs/protocol.md
// describes it for writers of workers in other languages.
//
//	worker  -> ready
//	harness -> trial
//	worker  -> step, step, ..., done | failed
//	harness -> trial ... or exit
package protocol

// Version is the version of the protocol, in the field "v" of every message.
const Version = 1

// MaxLine is the longest line in bytes, newline included.
const MaxLine = 1 << 20

// The operations, in the field "op".
const (
	OpReady  = "ready"
	OpTrial  = "trial"
	OpStep   = "step"
	OpDone   = "done"
	OpFailed = "failed"
	OpExit   = "exit"
)

// Counters of memory, the keys of Memory.Peak and Memory.Baseline.
const (
	Resident  = "resident"  // bytes of the process in memory
	Tensors   = "tensors"   // bytes that tensors held
	Simulated = "simulated" // bytes of a simulated device
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

// Trial asks for one trial.
type Trial struct {
	Head
	Number       int               `json:"trial"`
	Model        string            `json:"model"`
	Options      map[string]string `json:"options,omitempty"` // of the model
	Optimizer    string            `json:"optimizer"`         // sgd, momentum, adam or adamw
	Seed         uint64            `json:"seed"`              // of the SplitMix64 stream that weights and data come from
	Precision    string            `json:"precision"`
	MicroBatch   int               `json:"micro_batch"`
	Accumulation int               `json:"accumulation_steps"`
	Knobs        string            `json:"knobs,omitempty"`
	WarmupSteps  int               `json:"warmup_steps"`
	Steps        int               `json:"steps"`   // timed steps, at least
	Seconds      float64           `json:"seconds"` // time of the timed steps, at least
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
}

// Done ends a trial that ran to its end.
type Done struct {
	Head
	StepsRun int    `json:"steps_run"` // warm-up steps included
	Memory   Memory `json:"memory"`
}

// Memory is what a worker measured of memory in one trial.
type Memory struct {
	// Baseline and Peak map a counter to bytes; a counter that the system does not have is absent.
	Baseline map[string]int64 `json:"baseline_bytes,omitempty"`
	Peak     map[string]int64 `json:"peak_bytes,omitempty"`
	// Reset says that the peak counter was set back before the trial; where it
	// is false the peak holds for the process's whole life.
	Reset bool `json:"peak_reset"`
}

// Failed ends a trial that failed. It carries what was seen, not what it means.
type Failed struct {
	Head
	Type   string  `json:"type"`  // the exception's type
	Phase  string  `json:"phase"` // build, warmup, forward, backward, optimizer, step
	Text   string  `json:"text"`  // the original text
	Memory *Memory `json:"memory,omitempty"`
}

// Exit asks the worker to end with exit code 0.
type Exit struct {
	Head
}
