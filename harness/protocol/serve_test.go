package protocol_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"autotune/harness/protocol"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// engine runs trials by a function.
type engine func(t protocol.Trial, report func(protocol.Step) error) (protocol.Done, error)

func (engine) Ready() protocol.Ready {
	return protocol.Ready{Engine: "test", Precisions: []string{"fp32"}}
}

func (e engine) Run(t protocol.Trial, report func(protocol.Step) error) (protocol.Done, error) {
	return e(t, report)
}

// session is a harness's end of a served engine.
type session struct {
	*protocol.Conn
	t      *testing.T
	hangUp func()
	result chan error
}

// serve starts Serve on e and takes its ready.
func serve(t *testing.T, e engine) *session { return serveEngine(t, e) }

// serveEngine is serve on any engine.
func serveEngine(t *testing.T, e protocol.Engine) *session {
	fromHarness, toWorker := io.Pipe()
	fromWorker, toHarness := io.Pipe()
	s := &session{
		Conn: protocol.NewConn(fromWorker, toWorker), t: t,
		hangUp: func() { _ = toWorker.Close() }, result: make(chan error, 1),
	}
	go func() {
		s.result <- protocol.Serve(fromHarness, toHarness, e)
		_ = toHarness.Close()
		_ = fromHarness.Close()
	}()
	t.Cleanup(func() { _, _ = toWorker.Close(), fromWorker.Close() })
	if r, ok := s.receive().(*protocol.Ready); !ok || r.Engine != "test" {
		t.Fatalf("first message: %+v", r)
	}
	return s
}

func (s *session) receive() protocol.Message {
	m, err := s.Receive()
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *session) send(m protocol.Message) {
	if err := s.Send(m); err != nil {
		s.t.Fatal(err)
	}
}

func TestServeRunsTrials(t *testing.T) {
	s := serve(t, func(trial protocol.Trial, report func(protocol.Step) error) (protocol.Done, error) {
		for range trial.Steps {
			if err := report(protocol.Step{Seconds: 1, Samples: trial.MicroBatch, Loss: protocol.Finite(2)}); err != nil {
				return protocol.Done{}, err
			}
		}
		return protocol.Done{StepsRun: trial.Steps}, nil
	})
	for number := 1; number <= 2; number++ {
		s.send(&protocol.Trial{Number: number, MicroBatch: 4, Steps: 2})
		for range 2 {
			if step, ok := s.receive().(*protocol.Step); !ok || step.Samples != 4 || *step.Loss != 2 {
				t.Errorf("step %+v", step)
			}
		}
		if done, ok := s.receive().(*protocol.Done); !ok || done.StepsRun != 2 {
			t.Errorf("done %+v", done)
		}
	}
	s.send(&protocol.Exit{})
	if err := <-s.result; err != nil {
		t.Error(err)
	}
}

func TestServeReportsFailures(t *testing.T) {
	peak := protocol.Memory{Peak: map[string]int64{protocol.Resident: 5}}
	for _, c := range []struct {
		name              string
		fail              func() (protocol.Done, error)
		kind, phase, text string
		memory            bool
	}{
		{"with phase", func() (protocol.Done, error) {
			return protocol.Done{}, &protocol.Error{Type: "OutOfMemoryError", Phase: "forward", Err: errors.New("no room")}
		}, "OutOfMemoryError", "forward", "no room", false},
		{"with memory", func() (protocol.Done, error) {
			return protocol.Done{Memory: peak}, &protocol.Error{Type: "T", Phase: "optimizer", Err: errors.New("x")}
		}, "T", "optimizer", "x", true},
		{"plain", func() (protocol.Done, error) { return protocol.Done{}, io.ErrShortBuffer }, "*errors.errorString", "step", "short buffer", false},
		{"panic", func() (protocol.Done, error) { panic("shapes differ") }, protocol.TypePanic, "step", "shapes differ", false},
		{"huge", func() (protocol.Done, error) {
			return protocol.Done{}, errors.New(strings.Repeat("é\x00", protocol.MaxLine))
		}, "*errors.errorString", "step", "é", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, func(protocol.Trial, func(protocol.Step) error) (protocol.Done, error) { return c.fail() })
			s.send(&protocol.Trial{Number: 1})
			f, ok := s.receive().(*protocol.Failed)
			if !ok || f.Type != c.kind || f.Phase != c.phase || !strings.HasPrefix(f.Text, c.text) || (f.Memory != nil) != c.memory {
				t.Errorf("failed %.200v", f)
			}
			s.hangUp()
			if err := <-s.result; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestServeMakesLossesFinite(t *testing.T) {
	nan := math.Inf(1)
	s := serve(t, func(_ protocol.Trial, report func(protocol.Step) error) (protocol.Done, error) {
		return protocol.Done{StepsRun: 1}, report(protocol.Step{Loss: &nan})
	})
	s.send(&protocol.Trial{Number: 1})
	if step, ok := s.receive().(*protocol.Step); !ok || step.Loss != nil {
		t.Errorf("step %+v", step)
	}
	s.receive()
	s.send(&protocol.Exit{})
	if err := <-s.result; err != nil {
		t.Error(err)
	}
}

// TestServeEndsInTheMiddleOfAStep is the death of the harness: the step goes on, Serve does not wait for it.
func TestServeEndsInTheMiddleOfAStep(t *testing.T) {
	for name, end := range map[string]func(*session){
		"harness died": func(s *session) { s.hangUp() },
		"told to exit": func(s *session) { s.send(&protocol.Exit{}) },
	} {
		t.Run(name, func(t *testing.T) {
			begun, release := make(chan struct{}), make(chan struct{})
			s := serve(t, func(protocol.Trial, func(protocol.Step) error) (protocol.Done, error) {
				close(begun)
				<-release
				return protocol.Done{}, nil
			})
			defer close(release)
			s.send(&protocol.Trial{Number: 1})
			<-begun
			end(s)
			if err := <-s.result; !errors.Is(err, protocol.ErrGone) {
				t.Errorf("Serve returned %v", err)
			}
		})
	}
}

func TestServeRefusesWhatIsNoRequest(t *testing.T) {
	for name, m := range map[string]protocol.Message{"step": &protocol.Step{}, "ready": &protocol.Ready{}} {
		s := serve(t, nil)
		s.send(m)
		var v *protocol.Violation
		if err := <-s.result; !errors.As(err, &v) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestServeRefusesASecondTrialAtOnce(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	s := serve(t, func(protocol.Trial, func(protocol.Step) error) (protocol.Done, error) {
		close(begun)
		<-release
		return protocol.Done{}, nil
	})
	defer close(release)
	s.send(&protocol.Trial{Number: 1})
	<-begun
	s.send(&protocol.Trial{Number: 2})
	if err := <-s.result; err == nil || !strings.Contains(err.Error(), "second request, trial") {
		t.Error(err)
	}
}

// predictor is an engine that predicts by a function.
type predictor struct {
	engine
	predict func(p protocol.Predict) (protocol.Predicted, error)
}

func (p predictor) Predict(r protocol.Predict) (protocol.Predicted, error) { return p.predict(r) }

func TestServePredicts(t *testing.T) {
	line := protocol.Line{Fixed: 5, PerSample: 2}
	for _, c := range []struct {
		name       string
		engine     protocol.Engine
		kind, text string // of the failure; empty: none
	}{
		{"able", predictor{nil, func(p protocol.Predict) (protocol.Predicted, error) {
			return protocol.Predicted{Counter: p.Model, Lines: []protocol.Line{line}}, nil
		}}, "", ""},
		{"not able", engine(nil), protocol.TypeUnsupported, "does not predict"},
		{"failed", predictor{nil, func(protocol.Predict) (protocol.Predicted, error) {
			return protocol.Predicted{}, errors.New("data-dependent")
		}}, "*errors.errorString", "data-dependent"},
		{"panic", predictor{nil, func(protocol.Predict) (protocol.Predicted, error) { panic("no shapes") }}, protocol.TypePanic, "no shapes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serveEngine(t, c.engine)
			s.send(&protocol.Predict{Work: protocol.Work{Model: "tensors"}})
			switch m := s.receive().(type) {
			case *protocol.Predicted:
				if c.kind != "" || m.Counter != "tensors" || len(m.Lines) != 1 || m.Lines[0] != line {
					t.Errorf("predicted %+v", m)
				}
			case *protocol.Failed:
				if m.Type != c.kind || m.Phase != "predict" || !strings.Contains(m.Text, c.text) {
					t.Errorf("failed %+v", m)
				}
			default:
				t.Errorf("answered %+v", m)
			}
			s.hangUp()
			if err := <-s.result; err != nil {
				t.Error(err)
			}
		})
	}
}
