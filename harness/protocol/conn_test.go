package protocol_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"autotune/harness/protocol"
)

func TestConnRoundTrip(t *testing.T) {
	loss := 0.5
	work := protocol.Work{Model: "mlp", Options: map[string]string{"width": "8"}, Optimizer: "sgd", Seed: math.MaxUint64,
		Precision: "fp32", Accumulation: 2, Graph: json.RawMessage(`{"layers":[]}`), InputShape: []int{3, 8, 8}, Classes: 10}
	sent := []protocol.Message{
		&protocol.Ready{Engine: "e", Device: "cpu", Precisions: []string{"fp32"}, Counters: []string{protocol.Resident}, Versions: map[string]string{"lib": "1"}},
		&protocol.Predict{Work: work, MicroBatches: []int{4, 8}},
		&protocol.Predicted{Counter: protocol.Tensors, Lines: []protocol.Line{{Fixed: 1, PerSample: 2.5}}, Splits: []protocol.Split{{MicroBatch: 4, Peak: 11, Parameters: 11}}, RoomBytes: 7},
		&protocol.Trial{Work: work, Number: 1, MicroBatch: 4, WarmupSteps: 1, Steps: 2, Seconds: 0.5, LimitBytes: 1 << 40},
		&protocol.Step{Warmup: true, Seconds: 0.25, Loss: &loss, Samples: 8},
		&protocol.Step{Seconds: 0.25, Samples: 8},
		&protocol.Done{StepsRun: 2, Memory: protocol.Memory{Peak: map[string]int64{protocol.Resident: 7}, Reset: true}},
		&protocol.Failed{Type: "T", Phase: "forward", Text: "a\nb"},
		&protocol.Exit{},
	}
	var pipe bytes.Buffer
	conn := protocol.NewConn(&pipe, &pipe)
	for _, m := range sent {
		if err := conn.Send(m); err != nil {
			t.Fatal(err)
		}
	}
	if lines := strings.Count(pipe.String(), "\n"); lines != len(sent) {
		t.Fatalf("%d messages took %d lines", len(sent), lines)
	}
	for _, want := range sent {
		got, err := conn.Receive()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("received %+v, %v; sent %+v", got, err, want)
		}
	}
	if _, err := conn.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("after the last message: %v", err)
	}
}

// writes counts how often a connection writes, and passes on what it writes.
type writes struct {
	io.Writer
	count int
}

func (w *writes) Write(p []byte) (int, error) {
	w.count++
	return w.Writer.Write(p)
}

// TestHold checks that held messages come in order, in few writes, and without a Send after them.
func TestHold(t *testing.T) {
	r, w := io.Pipe()
	counted := &writes{Writer: w}
	conn, reader := protocol.NewConn(nil, counted), protocol.NewConn(r, nil)
	hold := func(from, to int) {
		for i := from; i <= to; i++ {
			if err := conn.Hold(&protocol.Step{Samples: i}); err != nil {
				t.Error(err)
			}
		}
	}
	go func() {
		hold(1, 100)
		if err := conn.Send(&protocol.Done{StepsRun: 101}); err != nil {
			t.Error(err)
		}
		hold(102, 103) // nothing follows: they come by themselves
	}()
	for i := 1; i <= 103; i++ {
		m, err := reader.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if done, ok := m.(*protocol.Done); ok != (i == 101) || ok && done.StepsRun != i {
			t.Fatalf("message %d is %+v", i, m)
		}
		if step, ok := m.(*protocol.Step); ok && step.Samples != i {
			t.Fatalf("message %d is %+v", i, m)
		}
	}
	if counted.count > 100 {
		t.Errorf("103 messages took %d writes", counted.count)
	}
}

// TestHoldReportsErrors checks that a write that failed is said at the next message.
func TestHoldReportsErrors(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	conn := protocol.NewConn(nil, w)
	if err := conn.Send(&protocol.Exit{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Send: %v", err)
	}
	if err := conn.Hold(&protocol.Step{}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Hold: %v", err)
	}
}

func TestReceiveErrors(t *testing.T) {
	for _, c := range []struct {
		name, input string
		want        string // in the error
	}{
		{"garbage", "hello\n", "not a JSON object of the protocol"},
		{"empty line", "\n", "not a JSON object"},
		{"array", "[]\n", "not a JSON object"},
		{"no version", `{"op":"step"}` + "\n", "version 0"},
		{"newer version", `{"v":2,"op":"step"}` + "\n", "version 2"},
		{"unknown operation", `{"v":1,"op":"dance"}` + "\n", `unknown operation "dance"`},
		{"wrong field", `{"v":1,"op":"step","seconds":"fast"}` + "\n", "not a valid step"},
		{"infinite number", `{"v":1,"op":"step","seconds":1e999}` + "\n", "not a valid step"},
		{"cut off", `{"v":1,"op":"st`, "unexpected EOF"},
		{"too long", `{"v":1,"op":"failed","text":"` + strings.Repeat("x", protocol.MaxLine) + `"}` + "\n", "longer than 1048576 bytes"},
		{"endless", strings.Repeat("x", 3*protocol.MaxLine), "longer than 1048576 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := protocol.NewConn(strings.NewReader(c.input), io.Discard).Receive()
			if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 500 {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestReceiveIgnoresUnknownFields(t *testing.T) {
	line := `{"v":1,"op":"step","seconds":1,"samples":4,"colour":"red"}` + "\n"
	m, err := protocol.NewConn(strings.NewReader(line), io.Discard).Receive()
	if s, ok := m.(*protocol.Step); err != nil || !ok || s.Samples != 4 {
		t.Errorf("received %+v, %v", m, err)
	}
}

func TestSendRefusesWhatNoLineHolds(t *testing.T) {
	nan := math.NaN()
	for name, m := range map[string]protocol.Message{
		"nan":      &protocol.Step{Loss: &nan},
		"too long": &protocol.Failed{Text: strings.Repeat("x", protocol.MaxLine)},
	} {
		var out bytes.Buffer
		if err := protocol.NewConn(&out, &out).Send(m); err == nil || out.Len() > 0 {
			t.Errorf("%s: error %v, %d bytes written", name, err, out.Len())
		}
	}
}

// FuzzDecode checks that what decodes is written again as a line that decodes to the same.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"v":1,"op":"ready","precisions":["fp32"]}`))
	f.Add([]byte(`{"v":1,"op":"trial","trial":3,"micro_batch":8}`))
	f.Add([]byte(`{"v":1,"op":"step","seconds":0.5,"loss":null}`))
	f.Add([]byte(`{"v":1,"op":"done","memory":{"peak_bytes":{"resident":1}}}`))
	f.Add([]byte(`{"v":1,"op":"failed","memory":null}`))
	f.Add([]byte(`{"v":9,"op":"exit"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := protocol.Decode(line)
		if err != nil {
			var v *protocol.Violation
			if !errors.As(err, &v) {
				t.Fatalf("error of type %T", err)
			}
			return
		}
		var pipe bytes.Buffer
		conn := protocol.NewConn(&pipe, &pipe)
		if err := conn.Send(m); err != nil {
			return // escaped, it can be longer than a line
		}
		first := pipe.String()
		again, err := conn.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Send(again); err != nil || pipe.String() != first {
			t.Fatalf("%s became %s (%v)", first, pipe.String(), err)
		}
	})
}
