package model

import "math"

// Param is one trained tensor.
type Param struct {
	// Name is unique in the graph: the layer's name, a dot, and weight or bias.
	Name string
	// Shape is out, in, height, width for convolutions; in, out for linear layers.
	Shape []int
	Init  Init
	// Decay says that weight decay holds for it: true for weights of matrix
	// products and embeddings, false for biases and for normalisation.
	Decay bool
}

// Size is the number of values.
func (p Param) Size() int { return size(p.Shape) }

// Init says how a tensor's first values are made: Constant, or else values of the
// stream that is named after the parameter (see Stream).
type Init struct {
	Kind InitKind
	// Scale is the value of Constant, the bound of Uniform and the standard deviation of Normal.
	Scale float64
}

// InitKind is a distribution of first values.
type InitKind int

// The distributions.
const (
	Constant InitKind = iota // every value is Scale
	Uniform                  // in [-Scale, Scale), see Stream.Uniform
	Normal                   // mean 0, standard deviation Scale, see Stream.Normal
)

// heNormal suits layers followed by ReLU (He et al., arXiv 1502.01852, section 2.2,
// the backward form).
func heNormal(fanOut int) Init { return Init{Normal, math.Sqrt(2 / float64(fanOut))} }

// fanInUniform keeps a layer's outputs within reach whatever its width (LeCun et
// al., "Efficient BackProp", section 4.6; the default of PyTorch's layers).
func fanInUniform(fanIn int) Init { return Init{Uniform, 1 / math.Sqrt(float64(fanIn))} }
