package reports

import "autotune/harness"

// Report is a run with what its trials mean, from which every output is made.
type Report struct{ *digest }

// New judges the run's trials. The run must not change afterwards.
func New(run *harness.Run) (Report, error) {
	d, err := digestOf(run)
	return Report{d}, err
}
