package harness

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// maxLog is the most that is kept of what a worker prints in one trial, in bytes.
	maxLog = 8 << 20
	// excerptEnd is what an excerpt keeps of a trial's output at either end, in bytes. Go's
	// runtime prints the reason of a crash first, Python last.
	excerptEnd = 4 << 10
)

// output copies what a worker prints to the log of the trial that runs. Its
// methods may be called while it copies.
type output struct {
	drained chan struct{} // closed when the worker's end of the pipe is closed

	mu         sync.Mutex
	file       *os.File // of the trial that runs
	err        error    // the first that a log gave
	size       int64    // printed since the trial began
	head, tail []byte
}

// copyOutput copies from a worker's pipe until its end, to log at first.
func copyOutput(pipe io.Reader, log *os.File) *output {
	o := &output{drained: make(chan struct{}), file: log}
	go func() {
		defer close(o.drained)
		_, _ = io.Copy(writerFunc(o.write), pipe) // write gives no error; a read error is the end
	}()
	return o
}

// writerFunc is a function as an io.Writer.
type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

// begin goes on in the log of another trial.
func (o *output) begin(log *os.File) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keep(0, o.file.Close())
	o.file, o.size, o.head, o.tail = log, 0, nil, nil
}

func (o *output) write(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := maxLog - o.size; room > 0 {
		o.keep(o.file.Write(b[:min(int64(len(b)), room)]))
		if int64(len(b)) >= room {
			o.keep(fmt.Fprintf(o.file, "\n[autotune: what follows %d bytes was left out]\n", int64(maxLog)))
		}
	}
	o.size += int64(len(b))
	if room := excerptEnd - len(o.head); room > 0 {
		n := min(len(b), room)
		o.head, b = append(o.head, b[:n]...), b[n:]
	}
	o.tail = append(o.tail, b...)
	if extra := len(o.tail) - excerptEnd; extra > 0 {
		o.tail = append([]byte(nil), o.tail[extra:]...)
	}
}

// keep remembers the first error of a log.
func (o *output) keep(_ int, err error) {
	if o.err == nil {
		o.err = err
	}
}

// excerpt is what was printed since the trial began; of much, the beginning and the end.
// Of a worker that has ended it waits a little for the rest.
func (o *output) excerpt(ended bool) string {
	if ended {
		select {
		case <-o.drained:
		case <-time.After(time.Second): // a process that left the group holds the pipe
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if left := o.size - int64(len(o.head)) - int64(len(o.tail)); left > 0 {
		return fmt.Sprintf("%s\n[%d bytes left out]\n%s", o.head, left, o.tail)
	}
	return string(o.head) + string(o.tail)
}

// close ends the log and gives the first error that a log gave.
func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.keep(0, o.file.Close())
	return o.err
}
