package study

import (
	"slices"

	"autotune/tuner"
	"autotune/workloads/simulated"
	"autotune/workloads/simulated/rivals"
)

// Find is what a strategy that looks for the largest micro-batch came to on a device.
type Find struct {
	Seed     uint64
	Border   int // the true one
	Size     int // that the strategy would train with; 0: none
	Proven   bool
	Trials   int // timing and soak not counted
	Failures int
	Seconds  float64 // simulated, timing and soak not counted
	Timing   float64 // simulated seconds of timing; other strategies measure nothing
}

// Strategy is a way to look for the largest micro-batch that fits at fp32 without accumulation.
type Strategy struct {
	Name string
	Find func(d *simulated.Device) (Find, error)
}

// Ours is the search of package tuner with the objective batch over 1 to 65,536, told
// the device's memory as the limit.
func Ours() Strategy {
	return Strategy{"autotune", func(d *simulated.Device) (Find, error) {
		return findBorder(d, d.Limit(), 0)
	}}
}

// OursForeseen is Ours with forecasts of the device's memory (Device.Forecast), times the factor.
func OursForeseen(name string, factor float64) Strategy {
	return Strategy{"autotune with a forecast, " + name, func(d *simulated.Device) (Find, error) {
		return findBorder(d, d.Limit(), factor)
	}}
}

// OursWithoutLimit is Ours without a limit: only a failure tells that a size does not fit.
func OursWithoutLimit() Strategy {
	return Strategy{"autotune, limit not known", func(d *simulated.Device) (Find, error) {
		return findBorder(d, 0, 0)
	}}
}

// Foreseen are searches with forecasts: right but for what no forecast has, and wrong by a few parts.
func Foreseen() []Strategy {
	return []Strategy{
		OursForeseen("right", 1), OursForeseen("3% high", 1.03), OursForeseen("3% low", 0.97), OursForeseen("30% high", 1.3),
	}
}

// Reference is the strategy whose time ours is held against: Lightning's doubling
// and bisection, without the margin and the largest size that end it early.
func Reference() Strategy {
	return rival("Lightning binsearch, no margin, no largest size", func(d *simulated.Device) rivals.Result {
		return rivals.LightningBinsearch(d, 0, rivals.NoLargest)
	})
}

// Rivals are the strategies of other tools, Reference first.
func Rivals() []Strategy {
	return []Strategy{
		Reference(),
		rival("Lightning binsearch, defaults", func(d *simulated.Device) rivals.Result {
			return rivals.LightningBinsearch(d, rivals.LightningMargin, rivals.LightningLargest)
		}),
		rival("Lightning power, defaults", func(d *simulated.Device) rivals.Result {
			return rivals.LightningPower(d, rivals.LightningLargest)
		}),
		rival("accelerate from 128 (default)", func(d *simulated.Device) rivals.Result {
			return rivals.Accelerate(d, rivals.AccelerateFirst)
		}),
		rival("accelerate from 1024", func(d *simulated.Device) rivals.Result { return rivals.Accelerate(d, 1024) }),
	}
}

func rival(name string, search func(d *simulated.Device) rivals.Result) Strategy {
	return Strategy{name, func(d *simulated.Device) (Find, error) {
		r := search(d)
		return Find{
			Seed: d.Seed(), Border: d.Border("fp32", 1), Size: r.Size,
			Trials: r.Trials, Failures: r.Failures, Seconds: r.Seconds,
		}, nil
	}}
}

// findBorder looks for the border with package tuner.
func findBorder(d *simulated.Device, limit int64, factor float64) (Find, error) {
	space := tuner.Space{Sets: []tuner.Set{{Precision: "fp32"}}, Sizes: sizesTo(simulated.MaxBorder), Accumulations: []int{1}}
	o, err := SearchForeseen(d, space, tuner.Goal{Objective: "batch", LimitBytes: limit}, factor)
	if err != nil {
		return Find{}, err
	}
	border := d.Border("fp32", 1)
	return Find{
		Seed: d.Seed(), Border: border, Size: o.Recommendation.MicroBatch, Proven: o.proves(border),
		Trials: o.Fits(), Failures: o.Failures(),
		Seconds: o.FitSeconds, Timing: o.TimeSeconds,
	}, nil
}

// proves says whether the recommendation is the size, and the trials that it names
// show that it ran and that the next one did not fit.
func (o Outcome) proves(size int) bool {
	r := o.Recommendation
	i := slices.IndexFunc(r.Largest, func(b tuner.Border) bool { return b.Accumulation == 1 })
	if r.MicroBatch != size || i < 0 || r.Largest[i].MicroBatch != size || r.Largest[i].FailedTrial == nil {
		return false
	}
	ran, failed := o.trial(r.Largest[i].RanTrial), o.trial(*r.Largest[i].FailedTrial)
	return ran.MicroBatch == size && ran.Status == tuner.OK && failed.MicroBatch == size+1 && failed.Status == tuner.OOM
}

// trial gives the trial of a number, or an empty one.
func (o Outcome) trial(number int) tuner.Trial {
	if number < 1 || number > len(o.Trials) {
		return tuner.Trial{}
	}
	return o.Trials[number-1]
}

// sizesTo gives 1 to last.
func sizesTo(last int) []int {
	sizes := make([]int, last)
	for i := range sizes {
		sizes[i] = i + 1
	}
	return sizes
}

// FindAll runs the strategy on every device.
func FindAll(s Strategy, seeds Seeds, o simulated.Options) ([]Find, error) {
	var finds []Find
	err := seeds.each(o, func(d *simulated.Device) error {
		f, err := s.Find(d)
		finds = append(finds, f)
		return err
	})
	return finds, err
}

// Figures gives a figure of every find.
func Figures(finds []Find, figure func(Find) float64) []float64 {
	values := make([]float64, len(finds))
	for i, f := range finds {
		values[i] = figure(f)
	}
	return values
}

// SecondsRatio gives the time of each find as a part of that of the other on the
// same device, without timing and with it.
func SecondsRatio(finds, others []Find) (search, all []float64) {
	for i, f := range finds {
		search = append(search, f.Seconds/others[i].Seconds)
		all = append(all, (f.Seconds+f.Timing)/others[i].Seconds)
	}
	return search, all
}
