package gorgonia

import (
	"os"

	"github.com/prometheus/procfs"
)

// resetPeak sets VmHWM back to VmRSS (proc_pid_clear_refs(5), value 5). It is false
// where a container forbids that.
func resetPeak() bool {
	return os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) == nil
}

// readResident is the resident set, VmRSS, in bytes.
func readResident() (int64, error) {
	status, err := readStatus()
	return int64(status.VmRSS), err
}

// readPeak is the highest resident set since the last reset, VmHWM, in bytes.
func readPeak() (int64, error) {
	status, err := readStatus()
	return int64(status.VmHWM), err
}

func readStatus() (procfs.ProcStatus, error) {
	self, err := procfs.Self()
	if err != nil {
		return procfs.ProcStatus{}, err
	}
	return self.NewStatus()
}
