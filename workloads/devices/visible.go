package devices

import (
	"os"
	"slices"
	"strconv"
	"strings"
)

// VisibleVariable is the environment variable that hides devices from CUDA.
const VisibleVariable = "CUDA_VISIBLE_DEVICES"

// Here are the devices that CUDA shows a program that this one starts, in its order: cuda:0 is the first.
func Here(list []GPU) []GPU {
	if value, set := os.LookupEnv(VisibleVariable); set {
		return Visible(list, value)
	}
	return list
}

// Visible are the devices that CUDA shows a program under the value of CUDA_VISIBLE_DEVICES, in its order: cuda:0
// is the first. The value has indices, UUIDs or their beginnings, and UUIDs of MIG instances; what comes after one
// that does not exist is hidden, and an empty value hides all (CUDA C++ Programming Guide, "CUDA Environment
// Variables"). Of a GPU in MIG mode a program gets one instance, the first where none is named.
func Visible(list []GPU, value string) []GPU {
	visible := []GPU{}
	for entry := range strings.SplitSeq(value, ",") {
		gpu, found := find(list, strings.TrimSpace(entry))
		if !found {
			break
		}
		visible = append(visible, gpu)
	}
	return visible
}

// find gives the device of one entry, a GPU in MIG mode with the one instance that is meant.
func find(list []GPU, entry string) (GPU, bool) {
	if entry == "" {
		return GPU{}, false
	}
	for _, gpu := range list {
		for _, instance := range gpu.Instances {
			if strings.HasPrefix(instance.UUID, entry) && strings.HasPrefix(entry, "MIG-") {
				gpu.Instances = []Instance{instance}
				return gpu, true
			}
		}
		if index, err := strconv.Atoi(entry); err == nil && index == gpu.Index ||
			strings.HasPrefix(entry, "GPU-") && strings.HasPrefix(gpu.UUID, entry) {
			gpu.Instances = slices.Clone(gpu.Instances[:min(1, len(gpu.Instances))])
			return gpu, true
		}
	}
	return GPU{}, false
}
