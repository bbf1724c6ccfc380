package protocol

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime/debug"
)

// Engine is what trains, on the worker's side of the pipes.
type Engine interface {
	// Ready says what the worker is and can do.
	Ready() Ready
	// Run runs one trial and calls report after every optimizer step, warm-up
	// steps included. An error of report ends the trial and is returned as it is.
	// A failure is returned as an *Error where the phase is known; the Done beside
	// it may then carry the memory that was measured.
	Run(t Trial, report func(Step) error) (Done, error)
}

// Predictor is an Engine that can tell memory without running. Another one
// answers a prediction with a failure of the type TypeUnsupported.
type Predictor interface {
	Engine
	// Predict gives the memory of the work. Its error is a failure, as that of Run is.
	Predict(p Predict) (Predicted, error)
}

// TypeUnsupported is the type of a failure by which an engine says that it cannot do at all what was asked.
const TypeUnsupported = "unsupported"

// Error is a failure of a trial or a prediction with what was seen of it.
type Error struct {
	Type  string // of the exception
	Phase string // predict, build, warmup, forward, backward, optimizer, step
	Err   error
}

// Error is the original text.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the original error.
func (e *Error) Unwrap() error { return e.Err }

// TypePanic is the type of a failure that was a panic of the engine.
const TypePanic = "panic"

// ErrGone says that the harness closed its end, or asked for the end, while a trial ran.
var ErrGone = errors.New("the harness has gone in the middle of a trial")

// Finite is a pointer to x, or nil where x is NaN or infinite: the form of a Step's loss.
func Finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Serve is a worker's main loop: it says ready, runs the trials and predictions
// that it reads from r on e, one at a time, and answers on w. It returns nil when
// it is told to exit or when r ends between two of them. A failure of one, a panic
// of the engine included, is an answer and does not end it.
//
// When r ends while one runs, the harness has died: Serve returns ErrGone at
// once, without waiting for the step that is being computed, so that the caller
// can end the process.
func Serve(r io.Reader, w io.Writer, e Engine) error {
	conn := NewConn(r, w)
	ready := e.Ready()
	if err := conn.Send(&ready); err != nil {
		return err
	}
	returned := make(chan struct{})
	defer close(returned)
	inbox := conn.Inbox(returned)
	for {
		in := <-inbox
		switch m := in.Message.(type) {
		case *Trial:
			if err := serveOne(conn, inbox, func() (Message, error) { return runTrial(conn, e, *m) }); err != nil {
				return err
			}
		case *Predict:
			if err := serveOne(conn, inbox, func() (Message, error) { return predict(e, *m), nil }); err != nil {
				return err
			}
		case *Exit:
			return nil
		case nil:
			if errors.Is(in.Err, io.EOF) {
				return nil
			}
			return in.Err
		default:
			return &Violation{fmt.Sprintf("a worker was sent %q; it takes trial, predict and exit", m.op())}
		}
	}
}

// serveOne runs one request and sends its answer; the error of run is one of the pipe. It
// listens meanwhile: whatever arrives before the answer is sent ends the worker.
func serveOne(conn *Conn, inbox <-chan Incoming, run func() (Message, error)) error {
	type ending struct {
		answer Message
		err    error // of the pipe
	}
	ended := make(chan ending, 1)
	go func() {
		answer, err := run()
		ended <- ending{answer, err}
	}()
	select {
	case end := <-ended:
		if end.err != nil {
			return end.err
		}
		return conn.Send(end.answer)
	case in := <-inbox:
		switch m := in.Message.(type) {
		case *Trial, *Predict:
			return &Violation{fmt.Sprintf("a second request, %s, came before the first was answered", m.op())}
		}
		return ErrGone
	}
}

// predict gives the answer to a prediction, *Predicted or *Failed.
func predict(e Engine, p Predict) Message {
	engine, able := e.(Predictor)
	if !able {
		return &Failed{Type: TypeUnsupported, Phase: "predict", Text: "this engine does not predict memory"}
	}
	var predicted Predicted
	err := guard("predict", func() (err error) {
		predicted, err = engine.Predict(p)
		return err
	})
	if err != nil {
		f := failed(err, Memory{})
		f.Phase = "predict"
		return f
	}
	return &predicted
}

// runTrial runs one trial, reports its steps and gives the answer, *Done or
// *Failed. Warm-up steps and the first timed step are reported at once, since they
// tell where the trial is.
func runTrial(conn *Conn, e Engine, t Trial) (answer Message, broken error) {
	timed := 0
	report := func(s Step) error {
		if s.Loss != nil {
			s.Loss = Finite(*s.Loss)
		}
		if !s.Warmup {
			timed++
		}
		if timed > 1 {
			broken = conn.Hold(&s)
		} else {
			broken = conn.Send(&s)
		}
		return broken
	}
	var done Done
	err := guard("step", func() (err error) {
		done, err = e.Run(t, report)
		return err
	})
	if err != nil {
		return failed(err, done.Memory), broken
	}
	return &done, broken
}

// guard calls run, with a panic as an error in the phase. The panic's stack goes to stderr, into the trial's log.
func guard(phase string, run func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintf(os.Stderr, "panic: %v\n\n%s", p, debug.Stack())
			err = &Error{Type: TypePanic, Phase: phase, Err: fmt.Errorf("%v", p)}
		}
	}()
	return run()
}

// failed is what the harness is told of an error.
func failed(err error, m Memory) *Failed {
	f := &Failed{Type: fmt.Sprintf("%T", err), Phase: "step", Text: err.Error()}
	var e *Error
	if errors.As(err, &e) {
		f.Type, f.Phase = e.Type, e.Phase
	}
	if len(f.Text) > MaxLine/8 { // a line must hold it, escapes included
		f.Text = f.Text[:MaxLine/8]
	}
	if len(m.Peak) > 0 || len(m.Baseline) > 0 {
		f.Memory = &m
	}
	return f
}
