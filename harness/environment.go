package harness

// Environment is the machine and software that a run ran on. A figure that the
// system does not give is null.
type Environment struct {
	OS               string            `json:"os"`
	Arch             string            `json:"arch"`
	Kernel           *string           `json:"kernel"`
	CPUModel         *string           `json:"cpu_model"`
	Cores            int               `json:"cores"` // that the process may use
	MemoryBytes      *int64            `json:"memory_bytes"`
	AvailableBytes   *int64            `json:"available_bytes"` // when the run began
	CgroupVersion    *int              `json:"cgroup_version"`
	CgroupLimitBytes *int64            `json:"cgroup_limit_bytes"`
	CgroupCPUs       *float64          `json:"cgroup_cpus"`
	GoVersion        string            `json:"go_version"`
	Commit           *string           `json:"commit"`   // of autotune; "-dirty" appended where it was changed
	Versions         map[string]string `json:"versions"` // of libraries
}
