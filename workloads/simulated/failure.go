package simulated

import (
	"errors"
	"fmt"

	"autotune/harness/protocol"
)

// outOfMemory is what PyTorch 2 reports when a card's memory is full
// (c10/cuda/CUDACachingAllocator.cpp): the device is full, and what is asked for
// is what the peak has beyond it.
func (d *Device) outOfMemory(peak int64) *protocol.Error {
	text := fmt.Sprintf("CUDA out of memory. Tried to allocate %s. GPU 0 has a total capacity of %s of which 0 bytes is free. "+
		"Of the allocated memory %s is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.",
		formatSize(peak-d.limit), formatSize(d.limit), formatSize(d.limit))
	return &protocol.Error{Type: "torch.OutOfMemoryError", Phase: "forward", Err: errors.New(text)}
}

// otherFailure has nothing to do with memory.
func otherFailure() *protocol.Error {
	return &protocol.Error{
		Type: "RuntimeError", Phase: "backward",
		Err: errors.New("CUDA error: an illegal memory access was encountered"),
	}
}

// formatSize writes bytes as PyTorch does in its messages.
func formatSize(bytes int64) string {
	switch {
	case bytes <= 1<<10:
		return fmt.Sprintf("%d bytes", bytes)
	case bytes <= 1<<20:
		return fmt.Sprintf("%.2f KiB", float64(bytes)/(1<<10))
	case bytes <= 1<<30:
		return fmt.Sprintf("%.2f MiB", float64(bytes)/(1<<20))
	default:
		return fmt.Sprintf("%.2f GiB", float64(bytes)/(1<<30))
	}
}
