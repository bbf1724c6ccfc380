package rivals

import "autotune/workloads/simulated"

// AccelerateFirst is the default of starting_batch_size.
const AccelerateFirst = 128

// Accelerate is find_executable_batch_size of Hugging Face's accelerate 1.15
// (src/accelerate/utils/memory.py): from first on, nine tenths of the size until
// it fits. It never grows, and gives up at 0.
func Accelerate(d *simulated.Device, first int) Result {
	r := run{device: d}
	r.Size = first
	for r.Size > 0 && !r.fits(r.Size) {
		r.Size = int(float64(r.Size) * 0.9)
	}
	return r.Result
}
