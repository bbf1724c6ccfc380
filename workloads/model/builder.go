package model

import "fmt"

// Builder makes a Graph layer by layer. The first error stays: what is added
// after it is not looked at, and Graph returns it.
type Builder struct {
	layers []*Layer
	names  map[string]bool
	err    error
}

// NewBuilder begins a graph with its input layer, which is named "input".
func NewBuilder(in Input) *Builder {
	b := &Builder{names: map[string]bool{}}
	b.Add("input", in)
	return b
}

// Last is the layer that was added last.
func (b *Builder) Last() *Layer { return b.layers[len(b.layers)-1] }

// Add adds a layer that takes the given inputs, the last layer where none are
// given, and gives it back as an input for others.
func (b *Builder) Add(name string, op Op, inputs ...*Layer) *Layer {
	if len(inputs) == 0 && len(b.layers) > 0 {
		inputs = []*Layer{b.Last()}
	}
	l := &Layer{Name: name, Op: op, Inputs: inputs}
	if b.err == nil {
		b.err = b.check(l)
	}
	b.names[name] = true
	b.layers = append(b.layers, l)
	return l
}

func (b *Builder) check(l *Layer) error {
	want := 1
	switch l.Op.(type) {
	case Input:
		want = 0
	case Add:
		want = 2
	}
	switch {
	case b.names[l.Name]:
		return fmt.Errorf("layer %q: the name is taken", l.Name)
	case len(l.Inputs) != want:
		return fmt.Errorf("layer %q: takes %d inputs, has %d", l.Name, want, len(l.Inputs))
	}
	if err := l.Op.infer(l); err != nil {
		return fmt.Errorf("layer %q: %w", l.Name, err)
	}
	return nil
}

// Graph ends the graph: its last layer gives the logits, a vector of classes or a
// sequence of them. The sample unit is image or sequence.
func (b *Builder) Graph(name, sampleUnit string, recipe Recipe) (*Graph, error) {
	if b.err != nil {
		return nil, fmt.Errorf("model %q: %w", name, b.err)
	}
	if last := b.Last(); len(last.Shape) > 2 {
		return nil, fmt.Errorf("model %q: layer %q: logits of the shape %v; the last layer must give a vector of classes, or one per token",
			name, last.Name, last.Shape)
	}
	return &Graph{layers: b.layers, recipe: recipe, sampleUnit: sampleUnit}, nil
}
