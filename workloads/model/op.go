package model

import "fmt"

// Op is the operation of a layer: one of the types of this package. An engine
// tells them apart with a type switch.
type Op interface {
	// infer sets the layer's Shape and Params from its Inputs, or says what does not fit.
	infer(l *Layer) error
	// multiplyAdds is the number of multiply-adds in matrix products, forward, for one sample.
	multiplyAdds(l *Layer) int64
	// activations is the number of values that the layer puts out for one sample.
	activations(l *Layer) int64
}

// Input is where samples enter.
type Input struct {
	Shape []int
	// Vocabulary is the number of different tokens; 0: the sample is real numbers.
	Vocabulary int
}

// ReLU is max(x, 0).
type ReLU struct{ elementwise }

// GELU is the Gaussian error linear unit in the tanh form:
// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) (Hendrycks and Gimpel, arXiv 1606.08415).
type GELU struct{ elementwise }

// Add is the sum of two inputs of one shape.
type Add struct{}

// Flatten makes a vector of its input, in row-major order.
type Flatten struct{}

// Linear is x times a weight of shape (in, Out), plus a bias where it has one, over
// the last axis of a vector or a sequence of vectors.
type Linear struct {
	Out  int
	Bias bool
	// Init is that of the weight; the bias begins at 0.
	Init Init
}

func (op Input) infer(l *Layer) error {
	if len(op.Shape) == 0 {
		return fmt.Errorf("the input has no shape")
	}
	for _, d := range op.Shape {
		if d < 1 {
			return fmt.Errorf("the input has the shape %v; each side must be 1 or more", op.Shape)
		}
	}
	l.Shape = op.Shape
	return nil
}

func (Input) multiplyAdds(*Layer) int64 { return 0 }
func (Input) activations(*Layer) int64  { return 0 }

// elementwise is what operations on one input have in common that keep its shape.
type elementwise struct{}

func (elementwise) infer(l *Layer) error {
	l.Shape = l.Inputs[0].Shape
	return nil
}

func (elementwise) multiplyAdds(*Layer) int64  { return 0 }
func (elementwise) activations(l *Layer) int64 { return int64(size(l.Shape)) }

func (Add) infer(l *Layer) error {
	a, b := l.Inputs[0].Shape, l.Inputs[1].Shape
	if fmt.Sprint(a) != fmt.Sprint(b) {
		return fmt.Errorf("adds the shapes %v and %v", a, b)
	}
	l.Shape = a
	return nil
}

func (Add) multiplyAdds(*Layer) int64  { return 0 }
func (Add) activations(l *Layer) int64 { return int64(size(l.Shape)) }

func (Flatten) infer(l *Layer) error {
	l.Shape = []int{size(l.Inputs[0].Shape)}
	return nil
}

func (Flatten) multiplyAdds(*Layer) int64 { return 0 }
func (Flatten) activations(*Layer) int64  { return 0 } // the same memory, read otherwise

func (op Linear) infer(l *Layer) error {
	in := l.Inputs[0].Shape
	if len(in) > 2 {
		return fmt.Errorf("takes a vector or a sequence of vectors, not the shape %v; flatten it first", in)
	}
	if op.Out < 1 {
		return fmt.Errorf("has %d outputs; it needs 1 or more", op.Out)
	}
	last := len(in) - 1
	l.Shape = append(append([]int{}, in[:last]...), op.Out)
	l.Params = []Param{{Name: l.Name + ".weight", Shape: []int{in[last], op.Out}, Init: op.Init, Decay: true}}
	if op.Bias {
		l.Params = append(l.Params, Param{Name: l.Name + ".bias", Shape: []int{op.Out}})
	}
	return nil
}

func (op Linear) multiplyAdds(l *Layer) int64 {
	in := l.Inputs[0].Shape
	return int64(size(in)) * int64(op.Out)
}

func (Linear) activations(l *Layer) int64 { return int64(size(l.Shape)) }
