package harness

import "github.com/prometheus/procfs"

// cpuModel is the name of the first processor; nil where the system gives none, as on some ARM machines.
func cpuModel(proc procfs.FS) *string {
	cpus, err := proc.CPUInfo()
	if err != nil || len(cpus) == 0 || cpus[0].ModelName == "" {
		return nil
	}
	return &cpus[0].ModelName
}
