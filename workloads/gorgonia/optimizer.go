package gorgonia

import (
	"math"

	"autotune/workloads/model"
)

// The optimizers' constants: the momentum of He et al. (arXiv 1512.03385, section
// 3.4), and Adam's defaults (Kingma and Ba, arXiv 1412.6980, section 2).
const (
	momentum = 0.9
	beta1    = 0.9
	beta2    = 0.999
	epsilon  = 1e-8
)

// optimizer changes weights by their gradients. Gorgonia's own solvers are not
// used: its AdamW leaves the weights as they are.
type optimizer[T model.Float] struct {
	name   string
	rate   float64
	decay  []float64 // weight decay per parameter, 0 where it does not hold
	steps  int
	first  [][]T // momentum, or Adam's first moment
	second [][]T // Adam's second moment
}

func knownOptimizer(name string) bool {
	switch name {
	case "sgd", "momentum", "adam", "adamw":
		return true
	}
	return false
}

// newOptimizer makes an optimizer for a model's parameters, by its recipe, for steps of so many samples.
func newOptimizer[T model.Float](name string, graph *model.Graph, samples int) *optimizer[T] {
	o := &optimizer[T]{name: name, rate: graph.Recipe().Rate(name, samples)}
	for _, p := range graph.Params() {
		decay := 0.0
		if p.Decay {
			decay = graph.Recipe().WeightDecay
		}
		o.decay = append(o.decay, decay)
		if name != "sgd" {
			o.first = append(o.first, make([]T, p.Size()))
		}
		if name == "adam" || name == "adamw" {
			o.second = append(o.second, make([]T, p.Size()))
		}
	}
	return o
}

// step changes all weights by the gradients that the passes added up, and sets those to zero.
func (o *optimizer[T]) step(net *network) error {
	o.steps++
	for i, p := range net.params {
		weights, gradients, err := values[T](p)
		if err != nil {
			return err
		}
		o.update(i, weights, gradients)
		clear(gradients)
	}
	return nil
}

func (o *optimizer[T]) update(i int, w, g []T) {
	switch o.name {
	case "sgd":
		o.sgd(i, w, g)
	case "momentum":
		o.momentum(i, w, g)
	default:
		o.adam(i, w, g)
	}
}

// sgd: w -= rate (g + decay w).
func (o *optimizer[T]) sgd(i int, w, g []T) {
	rate, decay := T(o.rate), T(o.decay[i])
	for j := range w {
		w[j] -= rate * (g[j] + decay*w[j])
	}
}

// momentum: v = momentum v + g + decay w; w -= rate v (Sutskever et al., ICML 2013,
// in the form of PyTorch, where the rate is outside of v).
func (o *optimizer[T]) momentum(i int, w, g []T) {
	rate, decay, v := T(o.rate), T(o.decay[i]), o.first[i]
	for j := range w {
		v[j] = momentum*v[j] + g[j] + decay*w[j]
		w[j] -= rate * v[j]
	}
}

// adam is algorithm 1 of Kingma and Ba, with the decay added to the gradient. For
// adamw the weight decays by itself: w -= rate decay w (Loshchilov and Hutter,
// arXiv 1711.05101, algorithm 2, in the form of PyTorch, where the rate multiplies the decay).
func (o *optimizer[T]) adam(i int, w, g []T) {
	m, v := o.first[i], o.second[i]
	step := T(o.rate / (1 - math.Pow(beta1, float64(o.steps))))
	correction := T(1 / math.Sqrt(1-math.Pow(beta2, float64(o.steps))))
	keep, coupled := T(1-o.rate*o.decay[i]), T(0)
	if o.name == "adam" {
		keep, coupled = 1, T(o.decay[i])
	}
	for j := range w {
		d := g[j] + coupled*w[j]
		m[j] = beta1*m[j] + (1-beta1)*d
		v[j] = beta2*v[j] + (1-beta2)*d*d
		w[j] = keep*w[j] - step*m[j]/(T(math.Sqrt(float64(v[j])))*correction+epsilon)
	}
}
