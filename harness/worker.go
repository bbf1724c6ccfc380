package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"autotune/harness/protocol"
)

// stopPatience is how long a worker may take to end once it is told to.
const stopPatience = 2 * time.Second

// worker is one worker process with its pipes.
type worker struct {
	number  int // from 1, in the run
	command *exec.Cmd
	conn    *protocol.Conn
	pipes   []*os.File               // this side's ends
	request *os.File                 // the end that the worker reads, of the pipes
	inbox   <-chan protocol.Incoming // what the worker says; the last has an error
	left    chan struct{}            // closed when nobody reads the inbox any more
	exited  chan struct{}            // closed when the process has ended
	output  *output
	watch   *residentWatch
	kills   *int64 // the kernel's out-of-memory kills before the worker

	ready    protocol.Ready
	trials   int              // asked of it
	baseline map[string]int64 // bytes by counter before its first trial that told
	spent    string           // why it may not run another trial; empty: it may
}

// startWorker starts the workload's command; what it prints goes to log, which
// the worker then owns. Its error means that the program could not be started at all.
func startWorker(w Workload, number int, log *os.File) (*worker, error) {
	if len(w.Command) == 0 {
		return nil, fmt.Errorf("the engine %s has no worker command", w.Engine)
	}
	p, err := openPipes()
	if err != nil {
		return nil, err
	}
	defer p.closeTheirs()
	command := exec.Command(w.Command[0], w.Command[1:]...)
	command.Env = append(os.Environ(), w.Env...)
	command.Stdout, command.Stderr = p.printed.theirs, p.printed.theirs
	command.ExtraFiles = []*os.File{p.request.theirs, p.answer.theirs} // descriptors 3 and 4
	ownGroup(command)
	started := &worker{
		number: number, command: command, pipes: p.ours(), request: p.request.ours,
		baseline: map[string]int64{}, left: make(chan struct{}), exited: make(chan struct{}), kills: kernelKills(),
	}
	if err := started.launch(); err != nil {
		p.closeOurs()
		return nil, err
	}
	started.conn = protocol.NewConn(p.answer.ours, p.request.ours)
	started.inbox = started.conn.Inbox(started.left)
	started.output = copyOutput(p.printed.ours, log)
	started.watch = watchGroup(command.Process.Pid)
	return started, nil
}

// launch starts the process and waits for its end in the background, on one
// thread: where the kernel ends a worker with the thread that started it, that
// thread must live as long.
func (w *worker) launch() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := w.command.Start()
		started <- err
		if err == nil {
			_ = w.command.Wait() // how it ended is in ProcessState
			killGroup(w.command.Process.Pid)
			close(w.exited)
		}
	}()
	return <-started
}

// send gives the worker a message; one that does not read for a while is an error.
func (w *worker) send(m protocol.Message) error {
	if err := w.request.SetWriteDeadline(time.Now().Add(stopPatience)); err != nil {
		return err
	}
	return w.conn.Send(m)
}

// hasExited says whether the process has ended.
func (w *worker) hasExited() bool {
	select {
	case <-w.exited:
		return true
	default:
		return false
	}
}

// spoke says whether the worker has said something, or closed its pipe, though nothing was asked of it.
func (w *worker) spoke() bool {
	select {
	case <-w.inbox:
		return true
	default:
		return false
	}
}

// exitsWithin waits for the end of the process.
func (w *worker) exitsWithin(patience time.Duration) bool {
	select {
	case <-w.exited:
		return true
	case <-time.After(patience):
		return false
	}
}

// kill ends the worker and every process of its group at once.
func (w *worker) kill() {
	if !w.hasExited() {
		killGroup(w.command.Process.Pid)
		w.exitsWithin(5 * stopPatience) // it may hang in the kernel
	}
}

// close ends the worker, kindly where it listens, and frees what belongs to it.
func (w *worker) close() error {
	if !w.hasExited() && w.spent == "" && w.send(new(protocol.Exit)) == nil {
		w.exitsWithin(stopPatience)
	}
	w.kill()
	close(w.left)
	closeAll(w.pipes)
	w.watch.close()
	<-w.output.drained
	return w.output.close()
}

// last makes the worker the first choice of the kernel's out-of-memory killer
// (proc_pid_oom_score_adj(5)). The system may refuse; the run goes on.
func (w *worker) last() {
	path := filepath.Join("/proc", strconv.Itoa(w.command.Process.Pid), "oom_score_adj")
	_ = os.WriteFile(path, []byte("1000"), 0)
}

// kernelKills is how many processes the kernel's out-of-memory killer has ended
// since the machine started; nil: the system does not say (proc_vmstat(5)).
func kernelKills() *int64 {
	if n, found := readField("/proc/vmstat", "oom_kill"); found {
		return &n
	}
	return nil
}

// pipe is a pipe with an end for either side.
type pipe struct{ ours, theirs *os.File }

// pipes are those between the harness and one worker.
type pipes struct{ request, answer, printed pipe }

// openPipes makes the pipes of one worker.
func openPipes() (*pipes, error) {
	p := &pipes{}
	var errs [3]error
	p.request.theirs, p.request.ours, errs[0] = os.Pipe()
	p.answer.ours, p.answer.theirs, errs[1] = os.Pipe()
	p.printed.ours, p.printed.theirs, errs[2] = os.Pipe()
	for _, err := range errs {
		if err != nil {
			p.closeTheirs()
			p.closeOurs()
			return nil, err
		}
	}
	return p, nil
}

func (p *pipes) ours() []*os.File {
	return []*os.File{p.request.ours, p.answer.ours, p.printed.ours}
}

func (p *pipes) closeOurs() { closeAll(p.ours()) }

func (p *pipes) closeTheirs() {
	closeAll([]*os.File{p.request.theirs, p.answer.theirs, p.printed.theirs})
}

// closeAll closes files; nil ones are left out.
func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
