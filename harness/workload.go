package harness

import "time"

// Workload is one model on one engine and device: how its worker starts and
// what is known of it beforehand. The harness knows no model but through it.
type Workload struct {
	// Command is the worker's argument list, the program first. The harness adds
	// the pipes: descriptor 3 is read by the worker, 4 is written.
	Command []string
	// Env are variables for the worker, as NAME=VALUE, added to the harness's own.
	Env []string
	// StartTimeout is how long the worker may take from its start to ready; 0: DefaultStartTimeout.
	StartTimeout time.Duration

	Model        string            // an alias resolved, such as resnet20
	Options      map[string]string // of the model, sent with each trial
	Facts        ModelFacts
	Engine       string
	EngineReason string // why this engine, a clause; empty: it was asked for
	Device       string
	DeviceName   string
	Precisions   []string // that the engine can run
	LimitOn      string   // the counter that the limit holds
}

// DefaultStartTimeout is how long a worker may take from its start to ready.
const DefaultStartTimeout = 30 * time.Second
