package harness

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// maxLog is how much of what a worker prints in one trial is logged as it comes, and logEnd how
	// much of what follows is kept, its end, in bytes.
	maxLog = 8 << 20
	logEnd = 64 << 10
	// excerptEnd is what an excerpt keeps of a trial's output at either end, in bytes. Go's
	// runtime prints the reason of a crash first, Python last.
	excerptEnd = 4 << 10
)

// output copies what a worker prints to the log of the trial that runs. Its
// methods may be called while it copies.
type output struct {
	drained chan struct{} // closed when the worker's end of the pipe is closed

	mu   sync.Mutex
	file *os.File // of the trial that runs
	err  error    // the first that a log gave
	size int64    // printed since the trial began
	head []byte   // the first excerptEnd bytes
	tail []byte   // the end of what follows the head, at least logEnd bytes of it
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
	o.endLog()
	o.file, o.size, o.head, o.tail = log, 0, nil, nil
}

func (o *output) write(b []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := maxLog - o.size; room > 0 {
		o.keep(o.file.Write(b[:min(int64(len(b)), room)]))
		if int64(len(b)) >= room {
			o.keep(fmt.Fprintf(o.file, "\n[autotune: after %d bytes only the end is kept]\n", int64(maxLog)))
		}
	}
	o.size += int64(len(b))
	if room := excerptEnd - len(o.head); room > 0 {
		n := min(len(b), room)
		o.head, b = append(o.head, b[:n]...), b[n:]
	}
	o.tail = append(o.tail, b...)
	if len(o.tail) > 2*logEnd { // now and then, so that little is copied
		o.tail = append(o.tail[:0], lastOf(o.tail, logEnd)...)
	}
}

// lastOf is the end of b, n bytes at most.
func lastOf(b []byte, n int64) []byte { return b[max(0, int64(len(b))-n):] }

// endLog writes the end of what was too much for the log, and closes it.
func (o *output) endLog() {
	if over := o.size - maxLog; over > 0 {
		end := lastOf(o.tail, min(over, logEnd))
		o.keep(fmt.Fprintf(o.file, "[autotune: %d bytes left out]\n%s", over-int64(len(end)), end))
	}
	o.keep(0, o.file.Close())
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
	end := lastOf(o.tail, excerptEnd)
	if left := o.size - int64(len(o.head)) - int64(len(end)); left > 0 {
		return fmt.Sprintf("%s\n[%d bytes left out]\n%s", o.head, left, end)
	}
	return string(o.head) + string(o.tail)
}

// close ends the log and gives the first error that a log gave.
func (o *output) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endLog()
	return o.err
}
