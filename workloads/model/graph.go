package model

import "slices"

// Graph is a model: layers in an order in which each comes after its inputs.
// It does not change once it is built.
type Graph struct {
	layers     []*Layer
	recipe     Recipe
	sampleUnit string
}

// Layer is one operation with its parameters.
type Layer struct {
	// Name is unique in the graph, such as "layer1.0.conv1".
	Name string
	Op   Op
	// Inputs are the layers whose outputs the operation takes; the input layer has none.
	Inputs []*Layer
	// Shape is that of the output for one sample.
	Shape []int
	// Params are what the optimizer trains, named after the layer: "layer1.0.conv1.weight".
	Params []Param
}

// Recipe is how a model is usually trained: the defaults of a run.
type Recipe struct {
	// GlobalBatch is the number of samples per optimizer step, 1 or more.
	GlobalBatch int
	// Optimizer is sgd, momentum, adam or adamw.
	Optimizer string
	// LearningRate is that of sgd and momentum at GlobalBatch, above 0; see Rate.
	LearningRate float64
	// WeightDecay is the factor of a weight's decay, 0 or more; 0: none. It
	// holds for the parameters that have Decay.
	WeightDecay float64
}

// adamRate is the learning rate of adam and adamw: the default of Kingma and Ba,
// "Adam: A Method for Stochastic Optimization" (arXiv 1412.6980), section 2.
const adamRate = 1e-3

// Rate is the learning rate for an optimizer when a step has the given number of
// samples. Below the recipe's global batch it falls in proportion (the linear rule
// of Goyal et al., arXiv 1706.02677, section 2.1), so that small batches do not
// diverge; above it, it stays the recipe's.
func (r Recipe) Rate(optimizer string, samples int) float64 {
	rate := r.LearningRate
	if optimizer == "adam" || optimizer == "adamw" {
		rate = adamRate
	}
	return rate * min(1, float64(samples)/float64(r.GlobalBatch))
}

// Layers are the layers in order: the first is the input, the last gives the
// logits over which the loss, a cross-entropy, is taken.
func (g *Graph) Layers() []*Layer { return slices.Clone(g.layers) }

// Recipe is how the model is usually trained.
func (g *Graph) Recipe() Recipe { return g.recipe }

// SampleUnit is what one sample is: image or sequence.
func (g *Graph) SampleUnit() string { return g.sampleUnit }

// BatchNorm says whether the graph has batch normalisation, so that training
// depends on the size of the micro-batch.
func (g *Graph) BatchNorm() bool {
	return slices.ContainsFunc(g.layers, func(l *Layer) bool { _, is := l.Op.(BatchNorm); return is })
}

// InputShape is that of one sample: channels, height, width for images, the
// number of tokens for sequences.
func (g *Graph) InputShape() []int { return slices.Clone(g.layers[0].Shape) }

// Vocabulary is the number of different tokens of the input; 0: the input is
// made of real numbers.
func (g *Graph) Vocabulary() int { return g.layers[0].Op.(Input).Vocabulary }

// Classes is the number of logits per prediction.
func (g *Graph) Classes() int {
	shape := g.logits().Shape
	return shape[len(shape)-1]
}

// Predictions is the number of predictions that one sample makes, each with a
// target of its own: 1 for an image, one per token for a sequence.
func (g *Graph) Predictions() int { return size(g.logits().Shape) / g.Classes() }

func (g *Graph) logits() *Layer { return g.layers[len(g.layers)-1] }

// Params are the parameters of all layers in order.
func (g *Graph) Params() []Param {
	var all []Param
	for _, l := range g.layers {
		all = append(all, l.Params...)
	}
	return all
}

// Parameters is the number of values that the optimizer trains. The running
// statistics of batch normalisation are not among them.
func (g *Graph) Parameters() int64 {
	var n int64
	for _, p := range g.Params() {
		n += int64(p.Size())
	}
	return n
}

// FLOPs is the number of floating-point operations of the forward pass of one
// sample. A multiply-add counts as two. Only matrix products are counted, as
// published figures do: convolutions, linear layers and attention.
func (g *Graph) FLOPs() int64 {
	var n int64
	for _, l := range g.layers {
		n += 2 * l.Op.multiplyAdds(l)
	}
	return n
}

// ActivationBytes is the size of what the forward pass of one sample puts out,
// layer by layer, in bytes, for values of elem bytes: the outputs of all layers
// but the input, and the attention's weights. An engine's own copies come on top.
func (g *Graph) ActivationBytes(elem int) int64 {
	var n int64
	for _, l := range g.layers {
		n += l.Op.activations(l)
	}
	return n * int64(elem)
}

// size is the number of values of a tensor of the given shape.
func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
