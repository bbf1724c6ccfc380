package protocol

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Message is one of *Ready, *Predict, *Predicted, *Trial, *Step, *Done, *Failed and *Exit.
type Message interface {
	op() string
	head() *Head
}

// head gives every message that embeds a Head access to it.
func (h *Head) head() *Head { return h }

func (*Ready) op() string     { return OpReady }
func (*Predict) op() string   { return OpPredict }
func (*Predicted) op() string { return OpPredicted }
func (*Trial) op() string     { return OpTrial }
func (*Step) op() string      { return OpStep }
func (*Done) op() string      { return OpDone }
func (*Failed) op() string    { return OpFailed }
func (*Exit) op() string      { return OpExit }

// Name is the operation of a message, such as "step".
func Name(m Message) string { return m.op() }

// Violation is a line that breaks the protocol: it is no JSON, too long, of
// another version, or of an unknown operation.
type Violation struct {
	Text string // a sentence with the line's beginning
}

// Error is the sentence.
func (v *Violation) Error() string { return v.Text }

// Conn sends and receives messages over a pair of pipes. Send may be called by
// several goroutines, Receive by one at a time.
type Conn struct {
	lines *bufio.Reader

	mu    sync.Mutex // guards what follows, so that lines stay whole
	w     io.Writer
	held  []byte    // lines that are not written yet
	since time.Time // when the first of them was held
	flush *time.Timer
	err   error // of a write that nobody waited for
}

// HoldTime is the longest that Hold keeps a message back.
const HoldTime = 100 * time.Millisecond

// NewConn is a connection that reads messages from r and writes them to w.
func NewConn(r io.Reader, w io.Writer) *Conn {
	return &Conn{lines: bufio.NewReaderSize(r, 64<<10), w: w}
}

// Send fills in the head of m and writes it as one line, after what is held. A
// message longer than MaxLine or with a number that JSON does not have (NaN, an
// infinity) is refused and nothing is written.
func (c *Conn) Send(m Message) error {
	line, err := encode(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = append(c.held, line...)
	return c.write()
}

// Hold is Send that may keep the message back for HoldTime, so that many short
// messages wake the reader once. An error may be that of an earlier message.
func (c *Conn) Hold(m Message) error {
	line, err := encode(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.held) == 0 {
		c.since = time.Now()
		c.flush = time.AfterFunc(HoldTime, c.flushLate)
	}
	c.held = append(c.held, line...)
	if time.Since(c.since) < HoldTime && len(c.held) < MaxLine {
		return c.err
	}
	return c.write()
}

// flushLate writes what is held, where nothing else did.
func (c *Conn) flushLate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.write() // kept for the next message
}

// write writes what is held; c.mu is held.
func (c *Conn) write() error {
	if c.flush != nil {
		c.flush.Stop()
	}
	if c.err == nil && len(c.held) > 0 {
		_, c.err = c.w.Write(c.held)
	}
	c.held = c.held[:0]
	return c.err
}

// encode fills in the head of m and gives its line.
func encode(m Message) ([]byte, error) {
	*m.head() = Head{V: Version, Op: m.op()}
	line, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("protocol: %s cannot be written as JSON: %w", m.op(), err)
	}
	if len(line)+1 > MaxLine {
		return nil, fmt.Errorf("protocol: %s of %d bytes is longer than a line may be (%d)", m.op(), len(line)+1, MaxLine)
	}
	return append(line, '\n'), nil
}

// Receive waits for the next message. It gives io.EOF where the other side
// closed the pipe after a whole line, io.ErrUnexpectedEOF where it did so
// within one, and a *Violation for a line that breaks the protocol; the line is
// then read to its end only where it is not too long.
func (c *Conn) Receive() (Message, error) {
	line, err := c.line()
	if err != nil {
		return nil, err
	}
	return Decode(line)
}

// Incoming is what one Receive gave: a message, or the error that is the last.
type Incoming struct {
	Message Message
	Err     error
}

// Inbox receives in the background and passes on what arrives, up to and with the
// first error, after which nothing comes, or until left is closed. The channel is not closed.
func (c *Conn) Inbox(left <-chan struct{}) <-chan Incoming {
	inbox := make(chan Incoming)
	go func() {
		for {
			m, err := c.Receive()
			select {
			case inbox <- Incoming{m, err}:
			case <-left:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return inbox
}

// line reads up to and without the next newline.
func (c *Conn) line() ([]byte, error) {
	var line []byte
	for {
		part, err := c.lines.ReadSlice('\n')
		if len(line)+len(part) > MaxLine {
			return nil, &Violation{fmt.Sprintf("a line is longer than %d bytes; it begins with %s", MaxLine, excerpt(append(line, part...)))}
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

// Decode reads one line without its newline. Unknown fields are ignored; the
// error is a *Violation that names what is wrong.
func Decode(line []byte) (Message, error) {
	var head Head
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, &Violation{fmt.Sprintf("a line is not a JSON object of the protocol (%v): %s", err, excerpt(line))}
	}
	if head.V != Version {
		return nil, &Violation{fmt.Sprintf("a line is of version %d of the protocol, and this program speaks version %d: %s", head.V, Version, excerpt(line))}
	}
	m := newMessage(head.Op)
	if m == nil {
		return nil, &Violation{fmt.Sprintf("unknown operation %q; version %d has ready, predict, predicted, trial, step, done, failed and exit", excerpt([]byte(head.Op)), Version)}
	}
	if err := json.Unmarshal(line, m); err != nil {
		return nil, &Violation{fmt.Sprintf("a line is not a valid %s (%v): %s", head.Op, err, excerpt(line))}
	}
	return m, nil
}

// newMessage is an empty message of the operation, nil for an unknown one.
func newMessage(op string) Message {
	switch op {
	case OpReady:
		return new(Ready)
	case OpPredict:
		return new(Predict)
	case OpPredicted:
		return new(Predicted)
	case OpTrial:
		return new(Trial)
	case OpStep:
		return new(Step)
	case OpDone:
		return new(Done)
	case OpFailed:
		return new(Failed)
	case OpExit:
		return new(Exit)
	}
	return nil
}

// excerpt is the beginning of a line, fit for an error message.
func excerpt(line []byte) string {
	const most = 120
	line = bytes.ToValidUTF8(bytes.TrimSpace(line), []byte("?"))
	if len(line) > most {
		return string(bytes.ToValidUTF8(line[:most], nil)) + "..."
	}
	return string(line)
}
