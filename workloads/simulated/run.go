package simulated

import "autotune/tuner"

// Run runs the request as the trial of the number (1 or more) and gives what a
// tuner may know of it. The peak of a trial that ran out of memory is not known.
//
// WallSeconds is the time of the steps, warm-up steps included, or of the part
// of a step up to the failure. The start of a worker is added for the first trial
// and where the request asks for a fresh worker.
//
// A precision that is not one of Precisions gives the status Unsupported, a size
// or accumulation below 1 the status Invalid.
func (d *Device) Run(number int, r tuner.Request) tuner.Trial {
	t := tuner.Trial{Number: number, Config: r.Config, Purpose: r.Purpose, Status: tuner.OK}
	a, err := d.begin(number, r.Config)
	if err != nil {
		t.Status = tuner.Invalid
		if _, ok := d.scales[r.Precision]; !ok {
			t.Status = tuner.Unsupported
		}
		return t
	}
	if r.Fresh || number == 1 {
		t.WallSeconds += d.start
	}
	if a.failure != nil {
		t.Status = tuner.Crashed
		if a.peak > d.limit {
			t.Status = tuner.OOM
		}
		t.WallSeconds += a.until * a.step()
		return t
	}
	t.PeakBytes = a.peak
	for range r.WarmupSteps {
		t.WallSeconds += a.step()
	}
	var timed float64
	for len(t.StepSeconds) < r.Steps || timed < r.Seconds {
		s := a.step()
		timed += s
		t.StepSeconds = append(t.StepSeconds, s)
	}
	t.WallSeconds += timed
	return t
}
