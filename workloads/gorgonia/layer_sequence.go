package gorgonia

import (
	"math"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"autotune/workloads/model"
)

func (b *lowering) embedding(weight *gorgonia.Node) *gorgonia.Node {
	return b.do(func() (*gorgonia.Node, error) { return gorgonia.ByIndices(weight, b.input, 0) })
}

// positions adds the places' vectors to each sequence, a row per sequence.
func (b *lowering) positions(x, weight *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	s := x.Shape()
	row := weight.Shape().TotalSize()
	y := b.broadcast(gorgonia.BroadcastAdd, b.reshape(x, b.batch, row), b.reshape(weight, 1, row))
	return b.reshape(y, s[0], s[1])
}

// layerNorm is made of primitives; Gorgonia's InverseSqrt has a wrong gradient, so it divides by the root.
func (b *lowering) layerNorm(x *gorgonia.Node, op model.LayerNorm, params []*gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	rows, width := x.Shape()[0], x.Shape()[1]
	centred := b.broadcast(gorgonia.BroadcastSub, x, b.mean(x, rows, width))
	variance := b.mean(b.do(func() (*gorgonia.Node, error) { return gorgonia.Square(centred) }), rows, width)
	deviation := b.do(func() (*gorgonia.Node, error) {
		return gorgonia.Sqrt(b.apply(gorgonia.Add, variance, b.constant(op.Epsilon)))
	})
	y := b.broadcast(gorgonia.BroadcastHadamardDiv, centred, deviation)
	y = b.broadcast(gorgonia.BroadcastHadamardProd, y, params[0])
	return b.broadcast(gorgonia.BroadcastAdd, y, params[1])
}

func (b *lowering) gelu(x *gorgonia.Node) *gorgonia.Node {
	cube := b.apply(gorgonia.HadamardProd, b.apply(gorgonia.HadamardProd, x, x), x)
	inner := b.scale(b.apply(gorgonia.Add, x, b.scale(cube, 0.044715)), math.Sqrt(2/math.Pi))
	tanh := b.do(func() (*gorgonia.Node, error) { return gorgonia.Tanh(inner) })
	return b.scale(b.apply(gorgonia.HadamardProd, x, b.apply(gorgonia.Add, tanh, b.constant(1))), 0.5)
}

// attention works on all heads of all sequences at once, as batched matrix products.
func (b *lowering) attention(qkv *gorgonia.Node, op model.Attention, shape []int) *gorgonia.Node {
	tokens, width := shape[0], shape[1]
	heads, size := b.batch*op.Heads, width/op.Heads
	query := b.heads(qkv, 0, op.Heads, tokens, width)
	key := b.heads(qkv, 1, op.Heads, tokens, width)
	value := b.heads(qkv, 2, op.Heads, tokens, width)

	scores := b.do(func() (*gorgonia.Node, error) { return gorgonia.BatchedMatMul(query, key, false, true) })
	scores = b.scale(scores, 1/math.Sqrt(float64(size)))
	scores = b.broadcast(gorgonia.BroadcastAdd, b.reshape(scores, heads, tokens*tokens), b.mask(tokens))
	scores = b.reshape(scores, heads*tokens, tokens)
	weights := b.do(func() (*gorgonia.Node, error) { return gorgonia.SoftMax(scores, 1) })
	weights = b.reshape(weights, heads, tokens, tokens)
	mixed := b.do(func() (*gorgonia.Node, error) { return gorgonia.BatchedMatMul(weights, value) })

	mixed = b.reshape(mixed, b.batch, op.Heads, tokens, size)
	mixed = b.do(func() (*gorgonia.Node, error) { return gorgonia.Transpose(mixed, 0, 2, 1, 3) })
	return b.reshape(mixed, b.batch*tokens, width)
}

// heads takes query, key or value (part 0, 1, 2) out of the columns: (batch x heads, tokens, size).
func (b *lowering) heads(qkv *gorgonia.Node, part, heads, tokens, width int) *gorgonia.Node {
	x := b.do(func() (*gorgonia.Node, error) {
		return gorgonia.Slice(qkv, nil, gorgonia.S(part*width, (part+1)*width))
	})
	x = b.reshape(x, b.batch, tokens, heads, width/heads)
	x = b.do(func() (*gorgonia.Node, error) { return gorgonia.Transpose(x, 0, 2, 1, 3) })
	return b.reshape(x, b.batch*heads, tokens, width/heads)
}

// mask is added to the scores: 0 where a token may look, and a number that the
// softmax turns to 0 where the other token comes later. All attentions share it.
func (b *lowering) mask(tokens int) *gorgonia.Node {
	const name = "mask"
	if found := b.graph.ByName(name); len(found) > 0 {
		return found[0]
	}
	n := b.variable(name, b.dtype, 1, tokens*tokens)
	data := n.Value().(*tensor.Dense)
	for i := range tokens {
		for j := i + 1; j < tokens; j++ {
			if b.dtype == tensor.Float32 {
				data.Float32s()[i*tokens+j] = -1e9
			} else {
				data.Float64s()[i*tokens+j] = -1e9
			}
		}
	}
	return n
}
