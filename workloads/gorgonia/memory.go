package gorgonia

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"

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

// smallHeap is the memory of the Go runtime, in bytes, up to which a pass's memory
// goes back to the system. The allocator does not put every tensor where the pass
// before had it, and in a small heap one that ends up elsewhere is percents of the
// peak: five peaks of mlp at 24 MB lay within 7%, and lie within 1% with this. It costs
// page faults, about 0.25 ms a MB, which large heaps (within 1% without) do not repay.
const smallHeap = 64 << 20

// collect is the fixed point at which garbage is collected: after each pass.
func collect() {
	if mapped() < smallHeap {
		debug.FreeOSMemory() // collects garbage first
		return
	}
	runtime.GC()
}

// mapped is the memory that the Go runtime holds of the system, in bytes.
func mapped() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64() - s[1].Value.Uint64()
}
