//go:build !linux && !darwin

package gorgonia

// resetPeak is false: the system has no way to set the peak back.
func resetPeak() bool { return false }

// readResident is 0: not known here.
func readResident() (int64, error) { return 0, nil }

// readPeak is 0: not known here.
func readPeak() (int64, error) { return 0, nil }
