//go:build !linux

package harness

import "github.com/prometheus/procfs"

// cpuModel is nil: only Linux has it in /proc.
func cpuModel(procfs.FS) *string { return nil }
