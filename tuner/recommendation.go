package tuner

import "autotune/tuner/stats"

// Recommendation is the answer of a search.
type Recommendation struct {
	Config
	// Throughput is that of the trial named by Trial, in samples/s of whole optimizer steps.
	Throughput stats.Interval
	// PeakBytes is the peak of that trial, in bytes.
	PeakBytes int64
	// HeadroomBytes is the limit minus the peak, in bytes; nil where there is no limit.
	HeadroomBytes *int64
	// Trial is the number of the trial that the figures come from: the soak where there was one.
	Trial int
	// Soaked says that the configuration ran again in a fresh process for the soak's length.
	Soaked bool
	// Reason says in a sentence why this one.
	Reason string
	// Largest holds one border per set.
	Largest []Border
	// Notes are sentences the user should read: what was skipped, what was not proven.
	Notes []string
}

// Border is the largest size that ran at one precision, knob set and number of
// accumulation steps, with what stopped it from being larger.
type Border struct {
	Set
	// Accumulation is 2 when the recommendation accumulates and else 1: a peak differs between the two.
	Accumulation int `json:"accumulation_steps"`
	// MicroBatch is the largest size that ran; 0: none did.
	MicroBatch int `json:"micro_batch"`
	// RanTrial is the number of the trial that ran it; 0: none did.
	RanTrial int `json:"ran_trial"`
	// FailedTrial is the number of the trial of the next allowed size, which did not fit;
	// nil where Bound says what was reached instead.
	FailedTrial *int `json:"failed_trial"`
	// Bound is what ended the search for a larger size: "memory", "batch range",
	// "global batch", BoundData, "time", "trials", or the failure's status where it was not memory.
	Bound string `json:"bound"`
}

// BoundData is the bound of a border above which batches had fewer samples than were asked for.
const BoundData = "data"
