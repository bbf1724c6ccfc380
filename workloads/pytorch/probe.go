package pytorch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"autotune/harness/protocol"
)

// probeTimeout is how long an interpreter may take to import torch and to look at a model.
const probeTimeout = 60 * time.Second

// ProbeRequest asks an interpreter what it can do.
type ProbeRequest struct {
	// Work is what is to be trained; an empty Model: only versions and devices are asked for.
	protocol.Work
	// Device is cpu, cuda or cuda:N; empty: cuda where PyTorch can use it, else cpu.
	Device string `json:"device"`
}

// ProbeAnswer is what it can do.
type ProbeAnswer struct {
	Torch         string            `json:"torch"`    // version
	Versions      map[string]string `json:"versions"` // of all that trains, by name
	CUDAAvailable bool              `json:"cuda_available"`
	Device        string            `json:"device"`  // that the request came to
	Devices       []ProbedDevice    `json:"devices"` // the CUDA devices that PyTorch sees
	Model         *ProbedModel      `json:"model"`   // nil: none was asked for
	// Precisions maps each precision to the original text of why the device cannot do it; empty: it can.
	Precisions map[string]string `json:"precisions"`
	// Predicts says that memory can be predicted; Unpredicted why not.
	Predicts    bool         `json:"predicts"`
	Unpredicted string       `json:"unpredicted"`
	Error       *ProbeFailed `json:"error"` // nil: all went well
}

// ProbedDevice is a device as PyTorch sees it.
type ProbedDevice struct {
	Index      int    `json:"index"`
	Name       string `json:"name"`
	TotalBytes int64  `json:"total_bytes"`
	FreeBytes  int64  `json:"free_bytes"`
	Capability string `json:"capability"` // such as 9.0
	UUID       string `json:"uuid"`       // empty: this version of PyTorch does not say
}

// ProbedModel is what is known of a model that is not built in.
type ProbedModel struct {
	Parameters   int64  `json:"parameters"`
	InputShape   []int  `json:"input_shape"`
	Classes      int    `json:"classes"`
	BatchNorm    bool   `json:"batch_norm"`
	SampleUnit   string `json:"sample_unit"`
	OwnOptimizer bool   `json:"own_optimizer"`
	// Modules are the names that the knob checkpointing can take.
	Modules []string `json:"modules"`
}

// ProbeFailed is an exception as it was seen.
type ProbeFailed struct {
	Type string `json:"type"` // usage where the text is the worker's own and names what was asked
	Text string `json:"text"` // begins with the type where the exception is not the worker's own
}

// Probe asks an interpreter, in a process of its own. The context's end ends that process. An error is that of
// an engine that is not there; what is wrong with the model is in the answer's Error.
func Probe(ctx context.Context, in Interpreter, request ProbeRequest) (ProbeAnswer, error) {
	folder, err := os.MkdirTemp("", "autotune-probe-*")
	if err != nil {
		return ProbeAnswer{}, fmt.Errorf("no room for the worker's files: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	worker, err := Unpack(folder)
	if err != nil {
		return ProbeAnswer{}, fmt.Errorf("the worker's files cannot be written: %w", err)
	}
	question, err := json.Marshal(request)
	if err != nil {
		return ProbeAnswer{}, err
	}
	timed, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	said, err := converse(timed, question, in.Path, "-u", worker, "probe")
	if ctx.Err() != nil {
		return ProbeAnswer{}, ctx.Err()
	}
	late := errors.Is(timed.Err(), context.DeadlineExceeded)
	answer, unread := lastAnswer(said.output)
	switch {
	case late && answer.Torch == "":
		return ProbeAnswer{}, in.after(fmt.Sprintf("no answer within %v; the last that it printed: %s", probeTimeout, orNothing(said.errors)),
			"start it by hand, such as "+in.Path+" -c 'import torch', and see what it waits for")
	case late:
		answer.Error = &ProbeFailed{Text: fmt.Sprintf("importing and building it had not ended after %v; the last that it printed: %s", probeTimeout, orNothing(said.errors))}
	case err == nil && unread != nil:
		err = fmt.Errorf("its answer cannot be read: %w", unread)
		fallthrough
	case err != nil:
		answer.ended(err, said.errors)
	case answer.Error != nil && answer.Error.Type == "SystemExit":
		answer.Error.Text += "\nit printed: " + orNothing(said.errors) + "\n" + guardHint
	}
	return answer, in.check(ctx, answer)
}

// guardHint is for files that are programs too.
const guardHint = `a file that is also a program keeps what it does as one, such as reading its arguments, below: if __name__ == "__main__":`

// lastAnswer reads the last whole one of the answers in an output. Its error means that there is something else, or nothing.
func lastAnswer(output []byte) (answer ProbeAnswer, err error) {
	decoder := json.NewDecoder(bytes.NewReader(output))
	for read := 0; ; read++ {
		var next ProbeAnswer
		if err := decoder.Decode(&next); err != nil {
			if read > 0 && errors.Is(err, io.EOF) {
				return answer, nil
			}
			return answer, err
		}
		answer = next
	}
}

// ended says in the answer how the process ended before it had said all.
func (a *ProbeAnswer) ended(how error, printed []byte) {
	if a.Torch != "" {
		a.Error = &ProbeFailed{Text: fmt.Sprintf("Python ended while this was imported and built (%v); the last that it printed: %s", how, orNothing(printed))}
		return
	}
	if a.Error == nil {
		a.Error = &ProbeFailed{Text: fmt.Sprintf("%v: %s", how, orNothing(printed))}
	}
}

// check refuses a torch that is missing, broken or too old.
func (in Interpreter) check(ctx context.Context, answer ProbeAnswer) error {
	if answer.Torch != "" && !older(answer.Torch, leastMajor, leastMinor) {
		return nil
	}
	python, answers := installationOf(ctx, in.Path)
	if !answers {
		return in.after("it does not answer as Python does: "+text(answer.Error), "name another interpreter by --python FILE")
	}
	before := "Python " + python.Version + ", "
	switch {
	case older(python.Version, leastPythonMajor, leastPythonMinor):
		return in.after(before+"which is too old", "name one of Python 3.8 or newer by --python FILE")
	case answer.Torch != "":
		return in.after(fmt.Sprintf("%storch %s, which is too old: 1.13 is the oldest that is supported", before, answer.Torch),
			python.command(in.Path, "--upgrade "))
	case strings.Contains(text(answer.Error), "No module named 'torch'"):
		return in.after(before+"which has no torch: "+text(answer.Error), python.command(in.Path, ""))
	}
	return in.after(before+"whose torch is broken: "+text(answer.Error), python.command(in.Path, "--force-reinstall "))
}

// The oldest versions that are supported.
const (
	leastMajor, leastMinor             = 1, 13
	leastPythonMajor, leastPythonMinor = 3, 8
)

// older says whether a version such as 2.15.0+cu130 is below major.minor; one that cannot be read is not.
func older(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	a, errA := strconv.Atoi(parts[0])
	b, errB := strconv.Atoi(parts[1])
	return errA == nil && errB == nil && (a < major || a == major && b < minor)
}

// after is the error of the interpreter that was found, with what it said.
func (in Interpreter) after(said, help string) error {
	last := len(in.Looked) - 1
	in.Looked = append(append([]string{}, in.Looked[:last]...), in.Looked[last]+": "+said)
	return in.unusable(help)
}

func text(e *ProbeFailed) string {
	if e == nil {
		return "it did not say why"
	}
	return strings.TrimSpace(e.Text)
}

// spoken is what a process wrote.
type spoken struct{ output, errors []byte }

// converse runs a program with a line of input until it ends, or until the context does; then the processes that it
// started end too. Its input stays open until then, so that the program can see when this one is gone.
func converse(ctx context.Context, input []byte, program string, arguments ...string) (spoken, error) {
	var output bytes.Buffer
	var said tail
	command := exec.CommandContext(ctx, program, arguments...)
	command.Stdout, command.Stderr = &output, &said
	command.WaitDelay = time.Second
	ownGroup(command)
	stdin, err := command.StdinPipe()
	if err == nil {
		err = command.Start()
	}
	if err == nil {
		_, _ = stdin.Write(append(input, '\n')) // one that does not read it says why in another way
		err = command.Wait()
	}
	endGroup(command)
	return spoken{output.Bytes(), said.kept}, err
}

// tail keeps the last bytes that are written to it.
type tail struct{ kept []byte }

// mostKept is how much of a process's output is kept for an error.
const mostKept = 8 << 10

// Write keeps the end.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if surplus := len(t.kept) - mostKept; surplus > 0 {
		t.kept = t.kept[surplus:]
	}
	return len(p), nil
}

func orNothing(printed []byte) string {
	if text := strings.TrimSpace(string(printed)); text != "" {
		return text
	}
	return "nothing"
}
