package reports

import (
	"fmt"
	"slices"
	"strings"

	"autotune/harness"
	"autotune/harness/protocol"
)

// pyTorch is the name of the engine that has knobs and trains on GPUs.
const pyTorch = "pytorch"

// onGPU says whether the run trained on a device of its own memory.
func (d *digest) onGPU() bool { return strings.HasPrefix(d.Header.Device, "cuda") }

// knobRan says whether a trial with a knob of that name ran.
func (d *digest) knobRan(name string) bool {
	return slices.ContainsFunc(d.results, func(r result) bool {
		return r.ran() && strings.HasPrefix(r.Knobs, name+"=") || r.ran() && strings.Contains(r.Knobs, ","+name+"=")
	})
}

// otherKnobs compares the recommended configuration with the trial of other knobs, and the
// same sizes and precision, that needs the least memory, where that is clearly less.
func (d *digest) otherKnobs() string {
	r := d.Recommendation
	var best result
	for _, t := range d.results {
		same := t.Precision == r.Precision && t.MicroBatch == r.MicroBatch && t.Accumulation == r.Accumulation && t.Knobs != r.Knobs
		if same && t.ran() && t.PeakBytes > 0 && (best.Number == 0 || t.PeakBytes < best.PeakBytes) {
			best = t
		}
	}
	if best.Number == 0 || float64(best.PeakBytes) > leaner*float64(r.PeakBytes) {
		return ""
	}
	return fmt.Sprintf("Other knobs: %s peaked at %s in trial %d, with %s of the throughput.",
		best.Config, harness.FormatBytes(best.PeakBytes), best.Number, percent(best.Throughput.Median/r.Throughput.Median, false))
}

// checkpointing is general advice; empty where it was measured.
func (d *digest) checkpointing() string {
	const text = "Checkpointing (activations computed again in the backward pass) frees memory for time"
	switch {
	case d.knobRan("checkpointing"):
		return ""
	case d.Header.Engine == pyTorch:
		return text + "; --knobs checkpointing measures both."
	}
	return text + "."
}

// emptyCache is general advice for GPUs.
func (d *digest) emptyCache() string {
	if !d.onGPU() {
		return ""
	}
	return "torch.cuda.empty_cache() frees nothing that tensors hold: it gives back to the device what the allocator keeps for later, which helps other processes, or a phase of other sizes."
}

// expandable is what helps against memory in blocks that do not suit, where the run saw that.
func (d *digest) expandable() string {
	r, idle, _ := d.greatest(idleBytes)
	if idle == 0 || !d.onGPU() || d.knobRan("expandable") {
		return ""
	}
	return fmt.Sprintf("Expandable segments: %s lay idle in the allocator's blocks in trial %d. Whether PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True changes that was not measured; --knobs expandable does.",
		harness.FormatBytes(idle), r.Number)
}

// freeDevice is what helps where other processes hold memory of the device.
func (d *digest) freeDevice() string {
	r, most, _ := d.greatest(func(t *harness.TrialRecord) int64 { return t.Memory.Peak[protocol.OtherProcesses] })
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("Other processes: without them there would be up to %s more (trial %d); autotune devices lists them, and CUDA_VISIBLE_DEVICES chooses another device.",
		harness.FormatBytes(most), r.Number)
}
