package gorgonia

import (
	"math"
	"testing"

	"autotune/workloads/model"
)

// The layers are tested within small models that end in a linear layer. Their
// loss is held against the reference, and the gradient of every parameter against
// central differences of the loss.
func TestLayersAgainstReferenceAndFiniteDifferences(t *testing.T) {
	normal := model.Init{Kind: model.Normal, Scale: 0.5}
	image := model.Input{Shape: []int{2, 5, 6}}
	tokens := model.Input{Shape: []int{5}, Vocabulary: 7}
	embed := func(b *model.Builder) { b.Add("embed", model.Embedding{Width: 6, Init: normal}) }
	conv := func(b *model.Builder) *model.Layer {
		return b.Add("conv", model.Conv{Filters: 3, Kernel: 3, Stride: 1, Pad: 1, Init: normal})
	}
	cases := []struct {
		name  string
		input model.Input
		build func(b *model.Builder)
	}{
		{"linear", image, func(*model.Builder) {}},
		{"relu", image, func(b *model.Builder) { conv(b); b.Add("relu", model.ReLU{}) }},
		{"conv bias stride pad", image, func(b *model.Builder) {
			b.Add("conv", model.Conv{Filters: 3, Kernel: 3, Stride: 2, Pad: 1, Bias: true, Init: normal})
			b.Add("conv2", model.Conv{Filters: 2, Kernel: 1, Stride: 2, Init: normal})
		}},
		{"conv large kernel", image, func(b *model.Builder) {
			conv(b)
			b.Add("conv2", model.Conv{Filters: 2, Kernel: 5, Stride: 1, Pad: 2, Init: normal})
		}},
		{"batch norm", image, func(b *model.Builder) {
			conv(b)
			b.Add("norm", model.BatchNorm{Epsilon: 1e-5, Momentum: 0.1})
			b.Add("relu", model.ReLU{})
		}},
		{"max pool with padding", image, func(b *model.Builder) {
			conv(b)
			b.Add("pool", model.MaxPool{Kernel: 3, Stride: 2, Pad: 1})
		}},
		{"max pool", image, func(b *model.Builder) { conv(b); b.Add("pool", model.MaxPool{Kernel: 2, Stride: 2}) }},
		{"global average pool", image, func(b *model.Builder) { conv(b); b.Add("pool", model.GlobalAveragePool{}) }},
		{"global average pool of one pixel", model.Input{Shape: []int{2, 1, 1}}, func(b *model.Builder) {
			conv(b)
			b.Add("pool", model.GlobalAveragePool{})
		}},
		{"residual", image, func(b *model.Builder) {
			in := conv(b)
			out := b.Add("conv2", model.Conv{Filters: 3, Kernel: 3, Stride: 1, Pad: 1, Init: normal})
			b.Add("add", model.Add{}, in, out)
			b.Add("relu", model.ReLU{})
		}},
		{"embedding", tokens, embed},
		{"positions", tokens, func(b *model.Builder) { embed(b); b.Add("places", model.Positions{Init: normal}) }},
		{"layer norm", tokens, func(b *model.Builder) { embed(b); b.Add("norm", model.LayerNorm{Epsilon: 1e-5}) }},
		{"gelu", tokens, func(b *model.Builder) { embed(b); b.Add("gelu", model.GELU{}) }},
		{"attention", tokens, func(b *model.Builder) {
			embed(b)
			b.Add("qkv", model.Linear{Out: 18, Bias: true, Init: normal})
			b.Add("attention", model.Attention{Heads: 2})
		}},
		{"attention of one token and head", model.Input{Shape: []int{1}, Vocabulary: 7}, func(b *model.Builder) {
			embed(b)
			b.Add("qkv", model.Linear{Out: 18, Init: normal})
			b.Add("attention", model.Attention{Heads: 1})
			b.Add("norm", model.LayerNorm{Epsilon: 1e-5})
		}},
	}
	for _, c := range cases {
		for _, batch := range []int{1, 3} {
			b := model.NewBuilder(c.input)
			c.build(b)
			if len(b.Last().Shape) == 3 {
				b.Add("flatten", model.Flatten{})
			}
			b.Add("head", model.Linear{Out: 4, Bias: true, Init: normal})
			graph, err := b.Graph(c.name, "sample", model.Recipe{GlobalBatch: 1})
			if err != nil {
				t.Fatal(err)
			}
			checkNetwork(t, c.name, graph, batch, 1)
		}
	}
}

// Whole models, small: what their layers do together.
func TestModelsAgainstReferenceAndFiniteDifferences(t *testing.T) {
	for name, options := range map[string]map[string]string{
		"mlp":      {"width": "5"},
		"lenet":    nil,
		"resnet20": {"image": "8", "classes": "3"},
		"gpt":      {"layers": "2", "width": "8", "heads": "2", "tokens": "4"},
	} {
		graph, err := model.Build(name, options)
		if err != nil {
			t.Fatal(err)
		}
		checkNetwork(t, name, graph, 2, max(1, len(graph.Params())/6))
	}
}

// checkNetwork checks the loss, and the gradient of some values of every n-th parameter.
func checkNetwork(t *testing.T, name string, graph *model.Graph, batch, every int) {
	t.Helper()
	const perParameter, h = 4, 1e-5
	net, ref := newChecked(t, graph, batch)
	want := ref.loss()
	if got := pass(t, net); math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("%s, batch %d: the loss is %.12g, the reference %.12g", name, batch, got, want)
	}
	for i, p := range graph.Params() {
		if i%every > 0 {
			continue
		}
		weights, gradients, err := values[float64](net.params[i])
		if err != nil {
			t.Fatal(err)
		}
		gradient := append([]float64{}, gradients...)
		for j := 0; j < len(weights); j += (len(weights) + perParameter - 1) / perParameter {
			old := weights[j]
			weights[j] = old + h
			ref.weights[p.Name] = weights
			up := ref.loss()
			weights[j] = old - h
			down := ref.loss()
			weights[j] = old
			if want := (up - down) / (2 * h); math.Abs(gradient[j]-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s, batch %d: gradient %d of %s is %.9g, finite differences give %.9g",
					name, batch, j, p.Name, gradient[j], want)
			}
		}
	}
}

// newChecked makes a network in float64 with data in it, and the reference of the same weights and data.
func newChecked(t *testing.T, graph *model.Graph, batch int) (*network, reference) {
	t.Helper()
	const seed = 7
	net, err := lower[float64](graph, batch, 1, seed)
	if err != nil {
		t.Fatal(err)
	}
	ref := reference{graph: graph, weights: map[string][]float64{}}
	for i, p := range graph.Params() {
		weights := net.params[i].Value().Data().([]float64)
		if len(p.Shape) == 1 { // nothing of interest happens at scale 1 and shift 0
			s := model.NewStream(seed, "test."+p.Name)
			for j := range weights {
				weights[j] += 0.3 * s.Uniform()
			}
		}
		ref.weights[p.Name] = weights
	}
	s := model.NewStream(seed, "test.data")
	targets := net.target.Value().Data().([]float64)
	for range batch {
		var x []float64
		for i := range size(graph.InputShape()) {
			if v := graph.Vocabulary(); v > 0 {
				x = append(x, float64(s.Below(v)))
				net.input.Value().Data().([]int)[len(ref.inputs)*size(graph.InputShape())+i] = int(x[i])
			} else {
				x = append(x, s.Normal())
				net.input.Value().Data().([]float64)[len(ref.inputs)*size(graph.InputShape())+i] = x[i]
			}
		}
		var classes []int
		for j := range graph.Predictions() {
			classes = append(classes, s.Below(graph.Classes()))
			targets[(len(ref.inputs)*graph.Predictions()+j)*graph.Classes()+classes[j]] = 1
		}
		ref.inputs, ref.targets = append(ref.inputs, x), append(ref.targets, classes)
	}
	return net, ref
}

func pass(t *testing.T, net *network) float64 {
	t.Helper()
	loss, err := net.pass()
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
