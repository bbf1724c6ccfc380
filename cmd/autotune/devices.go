package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/olekukonko/tablewriter/tw"
	"github.com/spf13/cobra"

	"autotune/harness"
	"autotune/workloads/devices"
	"autotune/workloads/pytorch"
)

const devicesHelp = `devices lists what can be trained on: the CPU, and the CUDA devices that nvidia-smi
lists and CUDA_VISIBLE_DEVICES shows, with their memory and who uses it, and what
PyTorch sees of them. Nothing is run on a device.`

const devicesExamples = `  autotune devices
  autotune devices --python .venv/bin/python
  autotune devices --json`

// devicesCommand lists devices.
func devicesCommand(s streams) *cobra.Command {
	var python string
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "devices",
		Short:   "List what can be trained on, and who uses it",
		Long:    devicesHelp,
		Example: devicesExamples,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			ctx, stop := interruptible(func() {})
			defer stop()
			list, err := findDevices(ctx, python)
			if ctx.Err() != nil {
				return &failure{code: harness.ExitInterruption, text: "interrupted"}
			}
			if err != nil && python != "" {
				return err
			}
			if asJSON {
				encoder := json.NewEncoder(s.out)
				encoder.SetIndent("", "  ")
				return encoder.Encode(list)
			}
			return list.write(s.out)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	addPythonFlag(f, &python)
	f.BoolVar(&asJSON, "json", false, jsonUsage)
	return cmd
}

// deviceList is what there is to train on.
type deviceList struct {
	CPU  cpuDevice     `json:"cpu"`
	CUDA []devices.GPU `json:"cuda"` // in the order of CUDA: cuda:0 is the first
	// Hidden is how many more there are, which CUDA_VISIBLE_DEVICES hides.
	Hidden  int     `json:"hidden"`
	Visible *string `json:"cuda_visible_devices"` // null: not set
	// NoSMI is why nvidia-smi gave no list; empty: it did.
	NoSMI     string             `json:"nvidia_smi_error,omitempty"`
	PyTorch   *pytorch.DevicesOf `json:"pytorch"` // null: none was found
	NoPyTorch string             `json:"pytorch_error,omitempty"`
}

type cpuDevice struct {
	Name       string `json:"name"`
	Cores      int    `json:"cores"`       // that a process may use
	TotalBytes *int64 `json:"total_bytes"` // the container's limit heeded; null: the system does not say
	FreeBytes  *int64 `json:"free_bytes"`
}

// findDevices looks at all devices. Its error is why PyTorch could not be asked; it is in the list as well.
func findDevices(ctx context.Context, python string) (deviceList, error) {
	list := deviceList{CPU: hostDevice(harness.ReadEnvironment()), CUDA: []devices.GPU{}}
	if value, set := os.LookupEnv(devices.VisibleVariable); set {
		list.Visible = &value
	}
	all, err := devices.List(ctx)
	if err != nil {
		list.NoSMI = err.Error()
	} else {
		list.CUDA = append(list.CUDA, devices.Here(all)...)
		list.Hidden = len(all) - len(list.CUDA)
	}
	sees, err := pytorch.Devices(ctx, python)
	if err != nil {
		list.NoPyTorch = err.Error()
		return list, err
	}
	list.PyTorch = &sees
	return list, nil
}

// hostDevice is the CPU.
func hostDevice(e harness.Environment) cpuDevice {
	d := cpuDevice{Name: e.Arch, Cores: e.Cores, TotalBytes: e.MemoryBytes, FreeBytes: e.AvailableBytes}
	if e.CPUModel != nil {
		d.Name = *e.CPUModel
	}
	if limit := e.CgroupLimitBytes; limit != nil && (d.TotalBytes == nil || *limit < *d.TotalBytes) {
		d.TotalBytes = limit
	}
	return d
}

// write writes the list for people.
func (l deviceList) write(w io.Writer) error {
	table := newTable(w, tw.AlignLeft, tw.AlignLeft, tw.AlignRight, tw.AlignRight, tw.AlignLeft)
	table.Header("device", "name", "memory", "free", "")
	rows := [][]string{{"cpu", l.CPU.Name, sizeText(l.CPU.TotalBytes), sizeText(l.CPU.FreeBytes), fmt.Sprintf("%d cores", l.CPU.Cores)}}
	for i, gpu := range l.CUDA {
		rows = append(rows, cudaRow(i, gpu))
	}
	for _, row := range rows {
		if err := table.Append(row); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, strings.Join(append([]string{""}, l.remarks()...), "\n"))
	return err
}

// cudaRow is a device's row. The figures of nvidia-smi are of a whole GPU, and not of one of its MIG instances.
func cudaRow(index int, gpu devices.GPU) []string {
	name := fmt.Sprintf("cuda:%d", index)
	if gpu.Split && len(gpu.Instances) > 0 {
		return []string{name, fmt.Sprintf("%s, MIG %s", gpu.Name, gpu.Instances[0].Profile), "-", "-", gpu.Busy()}
	}
	return []string{name, gpu.Name, sizeText(gpu.TotalBytes), sizeText(gpu.FreeBytes), gpu.Busy()}
}

// remarks are lines on what the table does not have.
func (l deviceList) remarks() []string {
	var lines []string
	if l.NoSMI != "" {
		lines = append(lines, l.NoSMI)
	}
	if l.Hidden > 0 {
		lines = append(lines, fmt.Sprintf("%s=%s hides %d more", devices.VisibleVariable, *l.Visible, l.Hidden))
	}
	if l.PyTorch == nil {
		return append(lines, "PyTorch: "+l.NoPyTorch)
	}
	p := l.PyTorch
	seen := fmt.Sprintf("torch %s of %s sees ", p.Torch, p.Python)
	if len(p.Devices) == 0 {
		return append(lines, seen+"no CUDA device")
	}
	var names []string
	for _, d := range p.Devices {
		names = append(names, fmt.Sprintf("cuda:%d %s, %s of %s free", d.Index, d.Name, harness.FormatBytes(d.FreeBytes), harness.FormatBytes(d.TotalBytes)))
	}
	return append(lines, seen+strings.Join(names, "; "))
}

// sizeText is a size of memory; "-" where it is not known.
func sizeText(bytes *int64) string {
	if bytes == nil {
		return "-"
	}
	return harness.FormatBytes(*bytes)
}
