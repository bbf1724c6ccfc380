package harness

import (
	"time"

	"autotune/harness/failure"
	"autotune/harness/protocol"
	"autotune/tuner"
	"autotune/tuner/stats"
)

// JournalVersion is the version of the journal's records, in the field "v" of every line.
const JournalVersion = 1

// The kinds of record, in the field "record".
const (
	KindHeader         = "header"
	KindForecast       = "forecast"
	KindTrial          = "trial"
	KindRecommendation = "recommendation"
)

// Settings are the choices that a run was started with, after defaults. They
// have the names of the flags and of the YAML file, and with the same binary
// they start the same run again.
type Settings struct {
	Command      string            `json:"command"` // tune or bench
	Model        string            `json:"model"`
	Set          map[string]string `json:"set,omitempty"`     // the model's options
	Input        string            `json:"input,omitempty"`   // shape of a sample, as written: 3,224,224; empty: by inspection
	Classes      int               `json:"classes,omitempty"` // 0: by inspection
	Engine       string            `json:"engine"`            // as asked: auto, gorgonia, pytorch, simulated
	Python       string            `json:"python,omitempty"`  // the interpreter; empty: the first that is found
	Device       string            `json:"device"`
	Precision    []string          `json:"precision"`
	Knobs        []string          `json:"knobs,omitempty"`        // as written: NAME (without and with it) or NAME=VALUE
	Batch        string            `json:"batch"`                  // as written: 1..4096 or 8,16,32; empty: the default
	Accumulation []int             `json:"accumulation,omitempty"` // empty: whatever the global batch asks for
	GlobalBatch  string            `json:"global_batch"`           // a number, "any", or empty: the recipe's
	Optimizer    string            `json:"optimizer"`
	MemoryLimit  string            `json:"memory_limit"` // as written; empty: the default
	Headroom     string            `json:"headroom"`     // as written; empty: none
	Objective    string            `json:"objective"`
	TargetError  float64           `json:"target_error,omitempty"` // a part of 1; 0: finalists are not measured again
	MaxTrials    int               `json:"max_trials"`             // 0: no bound
	MaxTime      float64           `json:"max_time_seconds"`       // 0: no bound
	TrialTimeout float64           `json:"trial_timeout_seconds"`  // of one trial, start-up not counted
	Soak         float64           `json:"soak_seconds"`           // 0: none
	Repeat       int               `json:"repeat,omitempty"`       // bench: fresh workers per configuration
	Seed         uint64            `json:"seed"`
}

// Header is the first record of a journal: what was asked and where it ran.
type Header struct {
	V        int       `json:"v"`
	Record   string    `json:"record"`
	Created  time.Time `json:"created"`
	Version  string    `json:"version"` // of autotune
	Settings Settings  `json:"settings"`

	// What the settings came to on this machine.
	Model        string     `json:"model"` // an alias resolved, such as resnet20
	Facts        ModelFacts `json:"facts"`
	Engine       string     `json:"engine"`
	EngineReason string     `json:"engine_reason"`         // why this engine, a clause
	Device       string     `json:"device"`                // such as "cpu"
	DeviceName   string     `json:"device_name"`           // such as the CPU's model
	DeviceBusy   string     `json:"device_busy,omitempty"` // who else uses it, a clause
	// Versions are those of the libraries that train, by name.
	Versions    map[string]string `json:"versions,omitempty"`
	LimitOn     string            `json:"limit_on"` // the counter that the limit holds
	LimitBytes  *int64            `json:"memory_limit_bytes"`
	LimitSource string            `json:"memory_limit_source"` // where the limit came from, a clause
	Headroom    int64             `json:"headroom_bytes"`
	GlobalBatch int               `json:"global_batch"` // 0: any
	// WarmupSteps is the number of optimizer steps of a trial before the clock counts; 0: 1.
	WarmupSteps int `json:"warmup_steps,omitempty"`
	// VirtualClock says that the seconds of steps are computed and did not pass.
	VirtualClock bool `json:"virtual_clock,omitempty"`
	// Predicts says that the search asks the worker for forecasts of memory.
	Predicts    bool        `json:"predicts,omitempty"`
	Environment Environment `json:"environment"`
}

// virtualClock says that steps' seconds did not pass. Journals of the simulated engine from before there was
// a field for it are told by the engine's name.
func (h Header) virtualClock() bool { return h.VirtualClock || h.Engine == "simulated" }

// ModelFacts is what is known of a model before it runs.
type ModelFacts struct {
	Parameters      int64  `json:"parameters"`
	FLOPsPerSample  int64  `json:"flops_per_sample"` // forward pass, a multiply-add counted as two
	InputShape      []int  `json:"input_shape"`      // of one sample
	SampleUnit      string `json:"sample_unit"`      // image, sequence, ...
	BatchNorm       bool   `json:"batch_norm"`       // training depends on the micro-batch
	RecipeBatch     int    `json:"recipe_global_batch"`
	RecipeOptimizer string `json:"recipe_optimizer"`
}

// ForecastRecord is the memory of a set as its engine predicted it before it ran.
type ForecastRecord struct {
	V      int    `json:"v"`
	Record string `json:"record"`
	tuner.Forecast
	// Counter is the counter whose peak is predicted; empty: the prediction failed.
	Counter     string   `json:"counter,omitempty"`
	WallSeconds float64  `json:"wall_seconds"` // start of a worker included
	Failure     *Failure `json:"failure"`      // null: it was predicted
}

// TrialRecord is one trial as it was seen. What it means is derived by Judge
// when it is read, so that a better rule reads old journals too.
type TrialRecord struct {
	V      int    `json:"v"`
	Record string `json:"record"`
	Number int    `json:"trial"` // from 1, in the order run
	Repeat int    `json:"repeat,omitempty"`
	tuner.Request
	Started time.Time `json:"started"`
	Worker  int       `json:"worker"` // which worker process of the run, from 1
	// WarmupSeconds and StepSeconds are raw, one figure per optimizer step.
	WarmupSeconds []float64  `json:"warmup_step_seconds"`
	StepSeconds   []float64  `json:"step_seconds"`
	Losses        []*float64 `json:"losses"`    // warm-up steps included; null: not finite
	Samples       []int      `json:"samples"`   // that each step saw, warm-up steps included
	StepsRun      int        `json:"steps_run"` // as the worker says; 0 where it did not end
	// DeviceSeconds are the timed steps' times by the device's own events; absent: the device has none.
	DeviceSeconds []float64 `json:"device_seconds,omitempty"`
	// Held is what the worker held after some of the timed steps, in their order; absent: it does not look.
	Held []Held `json:"held,omitempty"`
	// SkippedSteps is how many steps changed no weight, because a gradient of fp16 was not finite.
	SkippedSteps int `json:"skipped_steps,omitempty"`
	// WallSeconds is from the request to the record, the start of a worker included.
	WallSeconds float64 `json:"wall_seconds"`
	// HarnessCPUSeconds is the processor time that the harness itself used meanwhile.
	HarnessCPUSeconds float64         `json:"harness_cpu_seconds"`
	Memory            protocol.Memory `json:"memory"`
	// SeenPeakBytes is the highest resident set seen from outside, in bytes; 0: not seen.
	SeenPeakBytes int64    `json:"seen_peak_bytes"`
	Failure       *Failure `json:"failure"` // null: the worker ended the trial with done
}

// Held is what a worker held when a step had ended.
type Held struct {
	Step  int   `json:"step"`  // number of the timed step, from 1
	Bytes int64 `json:"bytes"` // of the resident set, or on a device of tensors
}

// Failure is what was seen of a failure: never what it means.
type Failure struct {
	Type  string `json:"type"`  // exception's type, or one of the harness's own: see the Failure constants
	Phase string `json:"phase"` // start, build, warmup, forward, backward, optimizer, step
	Text  string `json:"text"`  // original text, or what the harness saw
	// ExitCode and Signal are of a worker that ended; null and empty where it did not.
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal,omitempty"`
	// KernelKills is how many processes the kernel's out-of-memory killer ended on the
	// machine while the worker lived; null: not known, or the worker did not end.
	KernelKills *int64 `json:"kernel_oom_kills,omitempty"`
	// Samples is how many samples came in a micro-batch that had another size than was asked for; 0: not known.
	Samples int `json:"samples,omitempty"`
}

// The harness's own types of failure, in Failure.Type.
const (
	FailureOverLimit   = failure.TypeOverLimit
	FailureDeadline    = failure.TypeDeadline
	FailureInterrupted = failure.TypeInterrupted
	FailureProtocol    = failure.TypeProtocol
	FailureExit        = failure.TypeExit
	FailureUnsupported = failure.TypeUnsupported
)

// Recommendation is the journal's last record and the content of recommended.json.
type Recommendation struct {
	V            int    `json:"v"`
	Record       string `json:"record"`
	Model        string `json:"model"`
	Engine       string `json:"engine"`
	Device       string `json:"device"`
	Precision    string `json:"precision"`
	MicroBatch   int    `json:"micro_batch"`
	Accumulation int    `json:"accumulation_steps"`
	GlobalBatch  int    `json:"global_batch"`
	Knobs        string `json:"knobs,omitempty"`
	Optimizer    string `json:"optimizer"`
	Objective    string `json:"objective"`

	Throughput  stats.Interval `json:"throughput_samples_per_second"`
	PeakBytes   int64          `json:"peak_memory_bytes"`
	LimitOn     string         `json:"limit_on"`
	LimitBytes  *int64         `json:"memory_limit_bytes"`
	Headroom    *int64         `json:"headroom_bytes"`
	Trial       int            `json:"trial"`  // that the figures come from
	Trials      int            `json:"trials"` // run in all
	WallSeconds float64        `json:"wall_seconds"`
	Soaked      bool           `json:"soaked"`
	Reason      string         `json:"reason"`
	Notes       []string       `json:"notes"`
	Largest     []tuner.Border `json:"largest"`
}
