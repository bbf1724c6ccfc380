package gorgonia

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"autotune/workloads/model"
)

// layer adds the nodes of one layer. Images are nodes of four axes (batch,
// channels, height, width), vectors of two; sequences have all their tokens one
// after another in two axes (batch x tokens, width).
func (b *lowering) layer(l *model.Layer, done map[*model.Layer]*gorgonia.Node, params []*gorgonia.Node) (*gorgonia.Node, error) {
	var in []*gorgonia.Node
	for _, i := range l.Inputs {
		in = append(in, done[i])
	}
	var out *gorgonia.Node
	switch op := l.Op.(type) {
	case model.Input:
		out = b.sample(op)
	case model.Linear:
		out = b.linear(in[0], params)
	case model.ReLU:
		out = b.do(func() (*gorgonia.Node, error) { return gorgonia.Rectify(in[0]) })
	case model.Add:
		out = b.apply(gorgonia.Add, in[0], in[1])
	case model.Flatten:
		out = b.reshape(in[0], b.batch, l.Shape[0])
	case model.Conv:
		out = b.conv(in[0], op, params)
	case model.BatchNorm:
		out = b.batchNorm(in[0], op, l.Name, params)
	case model.MaxPool:
		out = b.maxPool(in[0], op)
	case model.GlobalAveragePool:
		out = b.globalAveragePool(in[0])
	case model.Embedding:
		out = b.embedding(params[0])
	case model.Positions:
		out = b.positions(in[0], params[0])
	case model.LayerNorm:
		out = b.layerNorm(in[0], op, params)
	case model.GELU:
		out = b.gelu(in[0])
	case model.Attention:
		out = b.attention(in[0], op, l.Shape)
	default:
		return nil, fmt.Errorf("the operation %T is not known to this engine", op)
	}
	return out, b.err
}

// sample is where a micro-batch enters.
func (b *lowering) sample(op model.Input) *gorgonia.Node {
	if op.Vocabulary > 0 {
		b.input = b.variable("input", tensor.Int, b.batch*op.Shape[0])
	} else {
		b.input = b.variable("input", b.dtype, append([]int{b.batch}, op.Shape...)...)
	}
	return b.input
}

func (b *lowering) linear(x *gorgonia.Node, params []*gorgonia.Node) *gorgonia.Node {
	y := b.apply(gorgonia.Mul, x, params[0])
	if len(params) == 1 {
		return y
	}
	return b.broadcast(gorgonia.BroadcastAdd, y, params[1])
}
