package model

import "fmt"

// Embedding turns each token into the row of its weight, of shape (vocabulary, Width).
type Embedding struct {
	Width int
	Init  Init
}

// Positions adds a trained vector to each place of a sequence: its weight has
// the sequence's shape (tokens, width).
type Positions struct{ Init Init }

// LayerNorm normalises each vector of a sequence, then scales and shifts it
// (Ba, Kiros and Hinton, arXiv 1607.06450).
type LayerNorm struct {
	// Epsilon is added to the variance, above 0.
	Epsilon float64
}

// Attention is causal self-attention with scaled dot products (Vaswani et al.,
// arXiv 1706.03762, section 3.2). Its input holds query, key and value of each
// token side by side: (tokens, 3 width) becomes (tokens, width). Each head takes
// width/Heads neighbouring columns of each.
type Attention struct{ Heads int }

func (op Embedding) infer(l *Layer) error {
	in, ok := l.Inputs[0].Op.(Input)
	if !ok || in.Vocabulary < 1 || len(in.Shape) != 1 {
		return fmt.Errorf("takes an input of tokens, not layer %q of the shape %v", l.Inputs[0].Name, l.Inputs[0].Shape)
	}
	if op.Width < 1 {
		return fmt.Errorf("has width %d; it needs 1 or more", op.Width)
	}
	l.Shape = []int{in.Shape[0], op.Width}
	l.Params = []Param{{Name: l.Name + ".weight", Shape: []int{in.Vocabulary, op.Width}, Init: op.Init, Decay: true}}
	return nil
}

func (Embedding) multiplyAdds(*Layer) int64  { return 0 }
func (Embedding) activations(l *Layer) int64 { return int64(size(l.Shape)) }

func (op Positions) infer(l *Layer) error {
	in, err := sequence(l.Inputs[0].Shape)
	if err != nil {
		return err
	}
	l.Shape = in
	l.Params = []Param{{Name: l.Name + ".weight", Shape: in, Init: op.Init, Decay: true}}
	return nil
}

func (Positions) multiplyAdds(*Layer) int64  { return 0 }
func (Positions) activations(l *Layer) int64 { return int64(size(l.Shape)) }

func (op LayerNorm) infer(l *Layer) error {
	in, err := sequence(l.Inputs[0].Shape)
	if err != nil {
		return err
	}
	if op.Epsilon <= 0 {
		return fmt.Errorf("has epsilon %g; it must be above 0", op.Epsilon)
	}
	l.Shape = in
	l.Params = []Param{
		{Name: l.Name + ".weight", Shape: in[1:], Init: Init{Scale: 1}},
		{Name: l.Name + ".bias", Shape: in[1:]},
	}
	return nil
}

func (LayerNorm) multiplyAdds(*Layer) int64  { return 0 }
func (LayerNorm) activations(l *Layer) int64 { return int64(size(l.Shape)) }

func (op Attention) infer(l *Layer) error {
	in, err := sequence(l.Inputs[0].Shape)
	if err != nil {
		return err
	}
	if op.Heads < 1 || in[1]%3 != 0 || in[1]/3%op.Heads != 0 {
		return fmt.Errorf("a width of %d cannot be split over %d heads; choose a width that is a multiple of the heads", in[1]/3, op.Heads)
	}
	l.Shape = []int{in[0], in[1] / 3}
	return nil
}

// Each token's query meets every key, and its weights meet every value; the half
// that the mask hides is computed too.
func (Attention) multiplyAdds(l *Layer) int64 { return 2 * int64(l.Shape[0]) * int64(size(l.Shape)) }

func (op Attention) activations(l *Layer) int64 {
	return int64(size(l.Shape)) + int64(op.Heads)*int64(l.Shape[0])*int64(l.Shape[0])
}

// sequence checks that a shape is tokens, width.
func sequence(shape []int) ([]int, error) {
	if len(shape) != 2 {
		return nil, fmt.Errorf("takes a sequence (tokens, width), not the shape %v", shape)
	}
	return shape, nil
}
