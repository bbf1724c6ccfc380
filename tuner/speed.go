package tuner

import (
	"math"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// speedModel predicts the throughput of configurations from those that ran: a
// Gaussian process on the logarithm of samples/s (Rasmussen and Williams, "Gaussian
// Processes for Machine Learning", 2006, chapter 2). Its kernel is a sum, so that
// what a precision or a knob does to one size is expected of the others as well.
type speedModel struct {
	points []speedPoint
	center float64 // of the logarithms
	inner  *mat.Cholesky
	weight *mat.VecDense
}

// speedPoint is one configuration that ran.
type speedPoint struct {
	features
	log   float64 // of samples/s
	steps int     // timed
}

// features are what the kernel sees of a configuration.
type features struct {
	size, passes  float64 // base-2 logarithms of micro-batch and accumulation
	tooth8        float64 // what rounding the size up to a multiple of 8 adds, relative
	tooth32       float64
	precision     string
	knobs         []string
	precisionKnob string // both, which name the set
}

// The standard deviations that the kernel takes, in logarithms of throughput, and
// the lengths over which sizes are alike, in doublings. They are wide on purpose: the
// recorded surfaces of real cards range from 1.03 to 5 times for a precision, 1.2
// for checkpointing, and 1.04 to 1.12 for accumulation.
const (
	spreadLevel     = 1.0
	spreadSize      = 0.7
	lengthSize      = 6.0
	spreadSizeLocal = 0.04
	lengthSizeLocal = 1.5
	spreadTooth     = 0.2
	spreadPrecision = 0.5
	spreadKnob      = 0.25
	spreadSet       = 0.08
	spreadSetSize   = 0.15
	lengthSetSize   = 4.0
	spreadSteps     = 0.08
	lengthSteps     = 3.0
)

// stepSpread is the relative spread of a step's time that is taken where nothing
// else is known, and trialSpread what a trial's median differs by from the next one's.
const (
	stepSpread  = 0.03
	trialSpread = 0.01
)

func featuresOf(c Config) features {
	f := features{
		size:          math.Log2(float64(c.MicroBatch)),
		passes:        math.Log2(float64(c.Accumulation)),
		tooth8:        rounding(c.MicroBatch, 8),
		tooth32:       rounding(c.MicroBatch, 32),
		precision:     c.Precision,
		precisionKnob: c.Precision + "," + c.Knobs,
	}
	if c.Knobs != "" {
		f.knobs = strings.Split(c.Knobs, ",")
	}
	return f
}

// rounding is what rounding the size up to a multiple adds, relative to the size.
func rounding(size, multiple int) float64 {
	up := (size + multiple - 1) / multiple * multiple
	return float64(up)/float64(size) - 1
}

// covariance is the kernel.
func covariance(a, b features) float64 {
	k := square(spreadLevel)
	k += square(spreadSize)*matern(a.size-b.size, lengthSize) + square(spreadSizeLocal)*matern(a.size-b.size, lengthSizeLocal)
	k += square(spreadTooth) * (a.tooth8*b.tooth8 + a.tooth32*b.tooth32)
	k += square(spreadSteps) * matern(a.passes-b.passes, lengthSteps)
	if a.precision == b.precision {
		k += square(spreadPrecision)
	}
	for _, knob := range a.knobs {
		for _, other := range b.knobs {
			if knob == other {
				k += square(spreadKnob)
			}
		}
	}
	if a.precisionKnob == b.precisionKnob {
		k += square(spreadSet) + square(spreadSetSize)*matern(a.size-b.size, lengthSetSize)
	}
	return k
}

// matern is the Matérn correlation of smoothness 3/2 at a distance (Rasmussen and Williams, equation 4.17).
func matern(distance, length float64) float64 {
	r := math.Sqrt(3) * math.Abs(distance) / length
	return (1 + r) * math.Exp(-r)
}

func square(x float64) float64 { return x * x }

// noiseScales are the factors on stepSpread that are tried: a busy machine is noisier.
var noiseScales = []float64{1, 2, 4, 8}

// fitSpeed fits the configurations that ran, one point each, with the noise under
// which their throughputs are the most likely; each doubling costs one in the
// logarithm of the likelihood.
func fitSpeed(trials []Trial) *speedModel {
	points := speedPoints(trials)
	if len(points) == 0 {
		return &speedModel{}
	}
	var best *speedModel
	most := math.Inf(-1)
	for i, scale := range noiseScales {
		m, likelihood := fitSpeedAt(points, scale)
		if likelihood -= float64(i); best == nil || likelihood > most {
			best, most = m, likelihood
		}
	}
	return best
}

// fitSpeedAt fits the points at one scale of the noise, and gives the logarithm of
// their likelihood but for a constant (Rasmussen and Williams, equation 2.30).
func fitSpeedAt(points []speedPoint, scale float64) (*speedModel, float64) {
	n := len(points)
	m := &speedModel{points: points, inner: &mat.Cholesky{}, weight: mat.NewVecDense(n, nil)}
	for _, p := range points {
		m.center += p.log / float64(n)
	}
	k := mat.NewSymDense(n, nil)
	y := mat.NewVecDense(n, nil)
	for i, p := range points {
		y.SetVec(i, p.log-m.center)
		for j := i; j < n; j++ {
			k.SetSym(i, j, covariance(p.features, points[j].features))
		}
		k.SetSym(i, i, k.At(i, i)+square(trialSpread)+square(scale*stepSpread)/float64(p.steps))
	}
	m.inner.Factorize(k) // positive definite: every variance is above 0
	if err := m.inner.SolveVecTo(m.weight, y); err != nil {
		return &speedModel{}, math.Inf(-1)
	}
	return m, -(mat.Dot(y, m.weight) + m.inner.LogDet()) / 2
}

// speedPoints gathers the trials that ran by configuration.
func speedPoints(trials []Trial) []speedPoint {
	var order []Config
	seconds := map[Config][]float64{}
	for _, t := range trials {
		if t.Status != OK || len(t.StepSeconds) == 0 {
			continue
		}
		if seconds[t.Config] == nil {
			order = append(order, t.Config)
		}
		seconds[t.Config] = append(seconds[t.Config], t.StepSeconds...)
	}
	points := make([]speedPoint, len(order))
	for i, c := range order {
		points[i] = speedPoint{
			features: featuresOf(c),
			log:      math.Log(throughputOf(c, seconds[c]).Median),
			steps:    len(seconds[c]),
		}
	}
	return points
}

// predict gives the expected logarithm of a configuration's samples/s and its standard deviation.
func (m *speedModel) predict(c Config) (log, deviation float64) {
	f := featuresOf(c)
	own := covariance(f, f)
	n := len(m.points)
	if n == 0 {
		return 0, math.Sqrt(own)
	}
	k := mat.NewVecDense(n, nil)
	for i, p := range m.points {
		k.SetVec(i, covariance(f, p.features))
	}
	solved := mat.NewVecDense(n, nil)
	if err := m.inner.SolveVecTo(solved, k); err != nil {
		return m.center, math.Sqrt(own)
	}
	return m.center + mat.Dot(k, m.weight), math.Sqrt(math.Max(0, own-mat.Dot(k, solved)))
}

// improvement is the expected improvement of a prediction over the best logarithm
// known (Jones, Schonlau and Welch, "Efficient global optimization of expensive
// black-box functions", 1998), as a part of the throughput.
func improvement(log, deviation, best float64) float64 {
	if deviation == 0 {
		return math.Max(0, log-best)
	}
	z := (log - best) / deviation
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	return (log-best)*math.Erfc(-z/math.Sqrt2)/2 + deviation*density
}
