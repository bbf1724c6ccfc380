package pytorch

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"autotune/workloads/devices"
)

// MayHaveGPU says whether it is worth asking PyTorch for a CUDA device: an NVIDIA driver or its tool is
// there, and CUDA_VISIBLE_DEVICES does not hide every device. It starts no process.
func MayHaveGPU() bool {
	if visible, set := os.LookupEnv(devices.VisibleVariable); set && visible == "" {
		return false
	}
	if _, err := os.Stat("/dev/nvidiactl"); err == nil {
		return true
	}
	_, err := exec.LookPath("nvidia-smi")
	return err == nil
}

// DefaultDevice is cuda where the interpreter's torch can use it, else cpu. It starts Python only where there may be a GPU.
func DefaultDevice(ctx context.Context, in Interpreter) (string, error) {
	if !MayHaveGPU() {
		return "cpu", nil
	}
	answer, err := Probe(ctx, in, ProbeRequest{Device: "cpu"})
	if err != nil || !answer.usable() {
		return "cpu", err
	}
	return "cuda", nil
}

// CUDAUsable says whether there is an interpreter whose torch can use a GPU, and why not, a clause.
func CUDAUsable(ctx context.Context, python string) (usable bool, why string) {
	in, err := FindInterpreter(python)
	if err != nil {
		return false, "there is no Python interpreter"
	}
	answer, err := Probe(ctx, in, ProbeRequest{Device: "cpu"})
	if err != nil {
		return false, in.Path + " has no torch that can be used"
	}
	return answer.usable(), fmt.Sprintf("torch %s of %s sees none", answer.Torch, in.Path)
}

// usable says whether there is a CUDA device that can be used.
func (a ProbeAnswer) usable() bool { return a.CUDAAvailable && len(a.Devices) > 0 }

// busy says who else uses the device, a clause; empty: nobody that is seen, or nvidia-smi does not tell. CUDA may number
// devices in another order than nvidia-smi, so that the UUID decides where torch gives it.
func (d ProbedDevice) busy(ctx context.Context) string {
	list, err := devices.List(ctx)
	if err != nil {
		return ""
	}
	for _, gpu := range list {
		if d.UUID != "" && strings.TrimPrefix(gpu.UUID, "GPU-") == strings.TrimPrefix(d.UUID, "GPU-") {
			return gpu.Busy()
		}
	}
	if list = devices.Here(list); d.Index < len(list) {
		return list[d.Index].Busy()
	}
	return ""
}

// DevicesOf is what one interpreter's torch sees.
type DevicesOf struct {
	Python  string         `json:"python"` // the interpreter
	Torch   string         `json:"torch"`
	Devices []ProbedDevice `json:"devices"` // CUDA alone
}

// Devices asks the interpreter that was named, else the one in use, for the CUDA devices that its torch can use.
func Devices(ctx context.Context, python string) (DevicesOf, error) {
	in, err := FindInterpreter(python)
	if err != nil {
		return DevicesOf{}, err
	}
	answer, err := Probe(ctx, in, ProbeRequest{Device: "cpu"})
	if err != nil {
		return DevicesOf{}, err
	}
	of := DevicesOf{Python: in.Path, Torch: answer.Torch, Devices: []ProbedDevice{}}
	if answer.usable() {
		of.Devices = append(of.Devices, answer.Devices...)
	}
	return of, nil
}
