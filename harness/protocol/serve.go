package protocol

// Engine is what trains, on the worker's side of the pipes.
type Engine interface {
	// Ready says what the worker is and can do.
	Ready() Ready
	// Run runs one trial and calls report after every optimizer step, warm-up
	// steps included. An error of report ends the trial and is returned as it is.
	// A failure is returned as an *Error where the phase is known.
	Run(t Trial, report func(Step) error) (Done, error)
}

// Error is a failure of a trial with what was seen of it.
type Error struct {
	Type  string // of the exception
	Phase string // build, warmup, forward, backward, optimizer, step
	Err   error
}

// Error is the original text.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the original error.
func (e *Error) Unwrap() error { return e.Err }
