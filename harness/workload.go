package harness

import (
	"encoding/json"
	"errors"
	"time"
)

// Workload is one model on one engine and device: how its worker starts and
// what is known of it beforehand. The harness knows no model but through it.
type Workload struct {
	// Command is the worker's argument list, the program first. The harness adds
	// the pipes: descriptor 3 is read by the worker, 4 is written.
	Command []string
	// Prepare writes the worker's own files into a folder, which is the run's where there
	// is one, and gives the argument list; nil: Command is all. It may be called again for the same folder.
	Prepare func(folder string) (command []string, err error) `json:"-"`
	// Env are variables for the worker, as NAME=VALUE, added to the harness's own.
	Env []string
	// StartTimeout is how long the worker may take from its start to ready; 0: DefaultStartTimeout.
	StartTimeout time.Duration

	Model   string            // an alias resolved, such as resnet20
	Options map[string]string // of the model, sent with each trial
	// Graph is a built-in model's layers for an engine that does not know it by name;
	// nil: it does. InputShape and Classes are sent where the user gave them.
	Graph      json.RawMessage
	InputShape []int
	Classes    int

	Facts        ModelFacts
	Engine       string
	EngineReason string            // why this engine, a clause; empty: it was asked for
	Versions     map[string]string // of the libraries that train
	Device       string
	DeviceName   string
	// DeviceBusy says in a clause who else uses the device; empty: nobody that is known of.
	DeviceBusy string
	// DeviceBytes is the memory of the device that trials can have now; nil: the device is the host.
	DeviceBytes *int64
	Precisions  []string // that the engine can run
	Knobs       []string // names of the knobs that the engine has
	// Elsewhere says in a clause what has the precisions and knobs that this engine has not; empty: nothing.
	Elsewhere string
	LimitOn   string // the counter that the limit holds
	// LimitOnNone is the counter that tells what fits where no limit is set; empty: LimitOn.
	LimitOnNone string
	// WarmupSteps is the number of optimizer steps of a trial before the clock counts; 0: 1.
	WarmupSteps int
	// VirtualClock says that the seconds of steps are computed and did not pass.
	VirtualClock bool
	// Predicts says that the worker can predict memory; Unpredicted why it cannot, a clause.
	Predicts    bool
	Unpredicted string
	// Notes are sentences on the workload that the user should read before it starts.
	Notes []string
}

// prepared is the workload with its worker's own files in the folder.
func (w Workload) prepared(folder string) (Workload, error) {
	if w.Prepare == nil {
		return w, nil
	}
	command, err := w.Prepare(folder)
	var coded interface{ ExitCode() int }
	if err != nil && !errors.As(err, &coded) {
		err = exitf(ErrFailed, "the worker's files cannot be written to %s: %w", folder, err)
	}
	w.Command = command
	return w, err
}

// startTimeout is how long the worker may take to be ready.
func (w Workload) startTimeout() time.Duration {
	if w.StartTimeout == 0 {
		return DefaultStartTimeout
	}
	return w.StartTimeout
}

// DefaultStartTimeout is how long a worker may take from its start to ready.
const DefaultStartTimeout = 30 * time.Second

// elsewhere is Elsewhere as the end of a sentence.
func (w Workload) elsewhere() string {
	if w.Elsewhere == "" {
		return ""
	}
	return ", or " + w.Elsewhere
}
