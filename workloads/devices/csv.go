package devices

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// The queries whose output is read. A name may have commas in it; the fields around it have none.
const (
	gpuFields     = "index,uuid,name,memory.total,memory.used,memory.free,mig.mode.current"
	processFields = "gpu_uuid,pid,process_name,used_memory"
)

// parseGPUs reads the CSV of gpuFields, sizes in MiB.
func parseGPUs(output string) ([]GPU, error) {
	var list []GPU
	for _, line := range lines(output) {
		fields, err := split(line, 2, 4)
		if err != nil {
			return nil, err
		}
		index, err := strconv.Atoi(fields[0])
		if err != nil || index < 0 {
			return nil, fmt.Errorf("%q begins with no index", line)
		}
		list = append(list, GPU{
			Index: index, UUID: fields[1], Name: fields[2],
			TotalBytes: mebibytes(fields[3]), UsedBytes: mebibytes(fields[4]), FreeBytes: mebibytes(fields[5]),
			Split: fields[6] == "Enabled", Processes: []Process{},
		})
	}
	return list, nil
}

// addProcesses reads the CSV of processFields into the GPUs.
func addProcesses(list []GPU, output string) error {
	for _, line := range lines(output) {
		fields, err := split(line, 2, 1)
		if err != nil {
			return err
		}
		pid, err := strconv.Atoi(fields[1])
		if err != nil {
			return fmt.Errorf("%q has no process's number", line)
		}
		for i := range list {
			if list[i].has(fields[0]) {
				list[i].Processes = append(list[i].Processes, Process{PID: pid, Name: fields[2], UsedBytes: mebibytes(fields[3])})
			}
		}
	}
	return nil
}

// listed is a line of nvidia-smi -L that names a GPU or a MIG instance of the one before it:
//
//	GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77)
//	  MIG 1g.5gb      Device  0: (UUID: MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f)
var listed = regexp.MustCompile(`^\s*(GPU|MIG) +(\S+).*\(UUID: (\S+)\)\s*$`)

// addInstances reads what nvidia-smi -L prints into the GPUs.
func addInstances(list []GPU, output string) {
	var gpu *GPU
	for line := range strings.Lines(output) {
		found := listed.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case found == nil:
		case found[1] == "GPU":
			gpu = nil
			for i := range list {
				if list[i].UUID == found[3] {
					gpu = &list[i]
				}
			}
		case gpu != nil:
			gpu.Instances = append(gpu.Instances, Instance{UUID: found[3], Profile: found[2]})
		}
	}
}

// has says whether the UUID is the GPU's or one of its instances'.
func (g GPU) has(uuid string) bool {
	for _, instance := range g.Instances {
		if instance.UUID == uuid {
			return true
		}
	}
	return g.UUID == uuid
}

// lines are those of the output that say something.
func lines(output string) []string {
	var list []string
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// split cuts a line at its commas into so many fields before a name, the name, and so many after it.
func split(line string, before, after int) ([]string, error) {
	parts := strings.Split(line, ",")
	if len(parts) < before+1+after {
		return nil, fmt.Errorf("%q has %d fields, not %d", line, len(parts), before+1+after)
	}
	name := strings.Join(parts[before:len(parts)-after], ",")
	fields := append(append(append([]string{}, parts[:before]...), name), parts[len(parts)-after:]...)
	for i := range fields {
		fields[i] = strings.TrimSpace(fields[i])
	}
	return fields, nil
}

// mebibytes is a size in bytes; nil for what is no number, such as [N/A] or [Insufficient Permissions].
func mebibytes(field string) *int64 {
	n, err := strconv.ParseInt(field, 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>20 {
		return nil
	}
	bytes := n << 20
	return &bytes
}
