package pytorch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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
	Predicts    bool   `json:"predicts"`
	Unpredicted string `json:"unpredicted"`
	// Stage is what was being done with the model when this was said, or when the Error came: import (of its file or
	// package), build, batch (its first). Empty: all is said.
	Stage string       `json:"stage"`
	Error *ProbeFailed `json:"error"` // nil: all went well
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
	// Missing is a package that could be installed, where one is not there; else empty.
	Missing string `json:"missing"`
}

// Probe asks an interpreter, in a process of its own. The context's end ends that process. An error is that of
// an engine that is not there; what is wrong with the model is in the answer's Error.
func Probe(ctx context.Context, in Interpreter, request ProbeRequest) (ProbeAnswer, error) {
	timed, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	answer, err := probe(timed, in, request)
	if ctx.Err() != nil {
		return ProbeAnswer{}, ctx.Err()
	}
	if err != nil {
		return ProbeAnswer{}, err
	}
	return answer, in.check(ctx, answer)
}

// probe asks until the context's deadline.
func probe(ctx context.Context, in Interpreter, request ProbeRequest) (ProbeAnswer, error) {
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
	said, err := converse(ctx, question, in.Path, "-u", worker, "probe", "--remove", folder)
	answer, unread := lastAnswer(said.output)
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	switch {
	case answer.whole():
		answer.explain(request.Model, said.errors)
	case late && answer.Torch == "":
		return ProbeAnswer{}, in.after(fmt.Sprintf("no answer within %v; %s", probeTimeout, lastOf(said.errors)),
			"start it by hand, such as "+in.Path+" -c 'import torch', and see what it waits for")
	case late:
		answer.hung(in.Path, request.Model, said.errors)
	case err == nil && answer.Torch == "":
		answer.ended(fmt.Sprintf("its answer cannot be read: %v", unread), request.Model, said.errors)
	case err == nil:
		answer.ended("Python ended (exit status 0)", request.Model, said.errors)
	default:
		answer.ended(fmt.Sprintf("Python ended (%v)", err), request.Model, said.errors)
	}
	return answer, nil
}

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
			python.command(in.Path, "--upgrade ", "torch"))
	case strings.Contains(text(answer.Error), "No module named 'torch'"):
		return in.after(before+"which has no torch: "+text(answer.Error), python.command(in.Path, "", "torch"))
	}
	return in.after(before+"whose torch is broken: "+text(answer.Error), python.command(in.Path, "--force-reinstall ", "torch"))
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
