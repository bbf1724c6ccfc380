package reports

import (
	"slices"

	"autotune/harness/protocol"
)

// counter says in plain words what a counter of memory counts.
type counter struct {
	Name string // as the records have it
	Noun string // as in "peak resident memory"
	Held string // as in "383.5 MiB resident"
	Says string // what it counts, a clause
}

// counters are those that engines report, in the order shown: see Memory in docs/protocol.md.
var counters = []counter{
	{protocol.Tensors, "tensor bytes", "in tensors", "what tensors held, memory inside an operation left out"},
	{protocol.Allocated, "allocator bytes", "given out by the allocator", "what the framework's allocator gave out, memory inside an operation included"},
	{protocol.Reserved, "memory reserved by the allocator", "reserved by the allocator", "what the framework's allocator held of the device, in use or not"},
	{protocol.Resident, "resident memory", "resident", "the process's bytes in memory"},
	{protocol.Simulated, "simulated memory", "simulated", "a simulated device's memory"},
	{protocol.DeviceUsed, "device memory in use", "in use on the device", "what all processes together held of the device"},
	{protocol.OtherProcesses, "device memory of other processes", "held by other processes", "what other processes held of the device"},
	{protocol.Context, "context and libraries", "in context and libraries", "what this process held of the device outside of the allocator"},
}

// counterOf is the counter of a name; one that is not known speaks for itself.
func counterOf(name string) counter {
	at := slices.IndexFunc(counters, func(c counter) bool { return c.Name == name })
	if at < 0 {
		return counter{Name: name, Noun: name + " memory", Held: name}
	}
	return counters[at]
}

// countersSeen are the counters that a trial of the run reports, in the order shown.
func countersSeen(list []result) []counter {
	seen := map[string]bool{}
	for _, r := range list {
		for name := range r.Record.Memory.Peak {
			seen[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(counters), func(c counter) bool { return !seen[c.Name] })
}
