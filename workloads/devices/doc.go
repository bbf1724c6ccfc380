// Package devices says which NVIDIA devices there are, how much memory of theirs is free, and who uses it.
// It reads what nvidia-smi prints, and CUDA_VISIBLE_DEVICES as CUDA does.
package devices

// GPU is one NVIDIA device. A figure that nvidia-smi does not give is nil.
type GPU struct {
	Index      int    `json:"index"` // of nvidia-smi: in the order of the bus
	UUID       string `json:"uuid"`
	Name       string `json:"name"`
	TotalBytes *int64 `json:"total_bytes"`
	UsedBytes  *int64 `json:"used_bytes"`
	FreeBytes  *int64 `json:"free_bytes"`
	// Instances are its MIG instances, where it is split into some.
	Instances []Instance `json:"mig_instances,omitempty"`
	Split     bool       `json:"mig"` // MIG mode is on
	Processes []Process  `json:"processes"`
}

// Instance is a part of a GPU that MIG made a device of its own.
type Instance struct {
	UUID    string `json:"uuid"`
	Profile string `json:"profile"` // such as 1g.10gb
}

// Process is one that computes on a GPU.
type Process struct {
	PID       int    `json:"pid"`
	Name      string `json:"name"`
	UsedBytes *int64 `json:"used_bytes"` // nil: nvidia-smi does not say
}
