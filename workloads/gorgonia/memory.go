package gorgonia

import (
	"runtime/debug"

	"autotune/harness/protocol"
)

// gauge measures one trial's peak of resident memory.
type gauge struct{ memory protocol.Memory }

// startGauge gives back what the trial before left, sets the peak counter back
// where the system allows, and takes the baseline.
func startGauge() (*gauge, error) {
	debug.FreeOSMemory() // collects garbage first
	g := &gauge{protocol.Memory{Reset: resetPeak()}}
	resident, err := readResident()
	if err != nil || resident == 0 {
		return g, err
	}
	g.memory.Baseline = map[string]int64{protocol.Resident: resident}
	return g, nil
}

// read gives the memory of the trial that now ends.
func (g *gauge) read() (protocol.Memory, error) {
	peak, err := readPeak()
	if err != nil || peak == 0 {
		return g.memory, err
	}
	g.memory.Peak = map[string]int64{protocol.Resident: peak}
	return g.memory, nil
}

// canReadMemory says whether the system gives the peak of the resident set.
func canReadMemory() bool {
	peak, err := readPeak()
	return err == nil && peak > 0
}
