package gorgonia

import "golang.org/x/sys/unix"

// resetPeak is false: the system has no way to set the peak back.
func resetPeak() bool { return false }

// readResident is 0: the resident set of now is not to be had without cgo.
func readResident() (int64, error) { return 0, nil }

// readPeak is the highest resident set of the process's life, in bytes (getrusage(2)).
func readPeak() (int64, error) {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		return 0, err
	}
	return usage.Maxrss, nil
}
