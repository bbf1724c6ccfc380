package study

import (
	"fmt"

	"autotune/workloads/simulated"
)

// Seeds is a range of devices, both ends included.
type Seeds struct{ First, Last uint64 }

// The devices that the strategy was made on, and others that it was not.
var (
	Known  = Seeds{1, 1000}
	Unseen = Seeds{10001, 11000}
)

// String is the range in words.
func (s Seeds) String() string { return fmt.Sprintf("seeds %d to %d", s.First, s.Last) }

// each makes the devices of the range, one after another.
func (s Seeds) each(o simulated.Options, do func(d *simulated.Device) error) error {
	for seed := s.First; seed <= s.Last; seed++ {
		d, err := simulated.NewDevice(seed, o)
		if err != nil {
			return err
		}
		if err := do(d); err != nil {
			return fmt.Errorf("device %d: %w", seed, err)
		}
	}
	return nil
}
