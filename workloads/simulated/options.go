package simulated

import "fmt"

// Options add to a device what does not come from its seed.
type Options struct {
	// Fuzzy makes the border fuzzy: the peak of a trial is the exact one times a
	// factor that is uniform between 1-Fuzzy and 1+Fuzzy. 0..0.5; 0: sharp.
	Fuzzy float64
	// Failures is the share of the trials that fail for another reason than
	// memory, whatever their size. 0..1.
	Failures float64
	// Holes is the share of the sizes at which every trial fails for another
	// reason than memory. 0..1.
	Holes float64
}

func (o Options) check() error {
	for _, f := range []struct {
		name       string
		value, top float64
	}{{"fuzzy", o.Fuzzy, 0.5}, {"failures", o.Failures, 1}, {"holes", o.Holes, 1}} {
		if !(f.value >= 0 && f.value <= f.top) {
			return fmt.Errorf("simulated device: option %q is %v: want 0 to %v", f.name, f.value, f.top)
		}
	}
	return nil
}
