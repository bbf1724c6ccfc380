package tuner

// Space says which configurations are allowed.
type Space struct {
	// Sets are the precisions with their knobs, in the order in which they are tried; one or more.
	Sets []Set
	// Sizes are the micro-batches allowed, rising, each 1 or more; one or more.
	Sizes []int
	// Accumulations are the accumulation steps allowed, rising; empty: whatever the global batch asks for
	// (1 where any global batch will do).
	Accumulations []int
	// GlobalBatch is the number of samples per optimizer step that the recommendation must have; 0: any.
	GlobalBatch int
}
