package rivals_test

import (
	"testing"

	"autotune/tuner"
	"autotune/workloads/simulated"
	"autotune/workloads/simulated/rivals"
)

// device finds a device whose border is in the range.
func device(t *testing.T, low, high int) (*simulated.Device, int) {
	t.Helper()
	for seed := range uint64(5000) {
		d, err := simulated.NewDevice(seed, simulated.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if b := d.Border("fp32", 1); b >= low && b <= high {
			return d, b
		}
	}
	t.Fatalf("no device has a border in %d..%d", low, high)
	return nil, 0
}

func TestPowerTakesThePowerOfTwoBelowTheBorder(t *testing.T) {
	d, _ := device(t, 600, 1000)
	got := rivals.LightningPower(d, rivals.LightningLargest)
	if got.Size != 512 || got.Trials != 10 || got.Failures != 1 {
		t.Errorf("got %+v, want 512 in 10 trials, one of them failed", got)
	}
}

func TestBinsearchFindsTheBorder(t *testing.T) {
	for _, bounds := range [][2]int{{2, 2}, {3, 3}, {4, 7}, {600, 1000}, {5000, 8000}} {
		d, border := device(t, bounds[0], bounds[1])
		got := rivals.LightningBinsearch(d, 0, rivals.NoLargest)
		if got.Size != border {
			t.Errorf("got %+v, want the border %d", got, border)
		}
		off := rivals.LightningBinsearch(d, rivals.LightningMargin, rivals.NoLargest)
		if want := max(1, int(float64(border)*0.95)); off.Size != want || off.Trials != got.Trials {
			t.Errorf("with its margin: got %+v, want %d", off, want)
		}
	}
}

// Lightning takes its largest size without trying it, whether or not it fits.
func TestLightningTakesItsLargestSizeUntried(t *testing.T) {
	d, border := device(t, 4096, 8000)
	for name, got := range map[string]rivals.Result{
		"power":     rivals.LightningPower(d, rivals.LightningLargest),
		"binsearch": rivals.LightningBinsearch(d, 0, rivals.LightningLargest),
	} {
		if got.Size != 8192 || got.Failures != 0 {
			t.Errorf("%s: got %+v with the border %d, want 8192 without a failure", name, got, border)
		}
	}
}

func TestAccelerateShrinksAndNeverGrows(t *testing.T) {
	d, border := device(t, 130, 1000)
	if got := rivals.Accelerate(d, 128); got.Size != 128 || got.Trials != 1 {
		t.Errorf("from 128 below the border %d: %+v", border, got)
	}
	d, border = device(t, 922, 1000)
	if got := rivals.Accelerate(d, 1024); got.Size != 921 || got.Trials != 2 || got.Failures != 1 {
		t.Errorf("from 1024 with the border %d: %+v, want 921 in 2", border, got)
	}
}

// Nine tenths of small sizes lose one a time, rounded down.
func TestAccelerateOnASmallDevice(t *testing.T) {
	d, border := device(t, 2, 3)
	got := rivals.Accelerate(d, 128)
	if got.Size < 1 || got.Size > border || got.Failures != got.Trials-1 {
		t.Errorf("with the border %d: %+v", border, got)
	}
}

func TestSecondsAreAStartAndThreeStepsATrial(t *testing.T) {
	d, _ := device(t, 600, 1000)
	want := d.StartSeconds()
	for size := 2; size <= 512; size *= 2 {
		want += 3 * d.StepSeconds(tuner.Config{Precision: "fp32", MicroBatch: size, Accumulation: 1})
	}
	got := rivals.LightningPower(d, rivals.LightningLargest).Seconds
	failing := d.StepSeconds(tuner.Config{Precision: "fp32", MicroBatch: 1024, Accumulation: 1})
	if got < 0.95*want || got > 1.05*(want+failing) {
		t.Errorf("%v s, want %v s and less than a step of 1024, %v s", got, want, failing)
	}
}
