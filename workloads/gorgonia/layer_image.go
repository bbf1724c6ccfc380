package gorgonia

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"autotune/workloads/model"
)

func (b *lowering) conv(x *gorgonia.Node, op model.Conv, params []*gorgonia.Node) *gorgonia.Node {
	y := b.do(func() (*gorgonia.Node, error) {
		return gorgonia.Conv2d(x, params[0], tensor.Shape{op.Kernel, op.Kernel},
			[]int{op.Pad, op.Pad}, []int{op.Stride, op.Stride}, []int{1, 1})
	})
	if len(params) == 1 {
		return y
	}
	return b.broadcast(gorgonia.BroadcastAdd, y, b.perChannel(params[1]))
}

// perChannel gives a vector of channels the axes of an image.
func (b *lowering) perChannel(p *gorgonia.Node) *gorgonia.Node {
	return b.reshape(p, 1, p.Shape()[1], 1, 1)
}

// batchNorm uses the batch's statistics and keeps running ones in the operation.
func (b *lowering) batchNorm(x *gorgonia.Node, op model.BatchNorm, name string, params []*gorgonia.Node) *gorgonia.Node {
	scale, shift := b.perChannel(params[0]), b.perChannel(params[1])
	return b.do(func() (*gorgonia.Node, error) {
		if s := x.Shape(); s[0]*s[2]*s[3] < 2 {
			return nil, fmt.Errorf("batch normalisation needs two values per channel or more; " +
				"use larger images or a micro-batch of 2 or more")
		}
		y, _, _, norm, err := gorgonia.BatchNorm(x, scale, shift, op.Momentum, op.Epsilon)
		b.norms[name] = norm
		return y, err
	})
}

func (b *lowering) maxPool(x *gorgonia.Node, op model.MaxPool) *gorgonia.Node {
	return b.do(func() (*gorgonia.Node, error) {
		return gorgonia.MaxPool2D(x, tensor.Shape{op.Kernel, op.Kernel}, []int{op.Pad, op.Pad}, []int{op.Stride, op.Stride})
	})
}

// globalAveragePool reduces one axis of two: over two axes of four, Gorgonia's sums are wrong.
func (b *lowering) globalAveragePool(x *gorgonia.Node) *gorgonia.Node {
	if b.err != nil {
		return nil
	}
	s := x.Shape()
	rows, pixels := s[0]*s[1], s[2]*s[3]
	return b.reshape(b.mean(x, rows, pixels), s[0], s[1])
}

// mean is that of each row of x, read as a matrix of rows and columns: (rows, 1).
func (b *lowering) mean(x *gorgonia.Node, rows, columns int) *gorgonia.Node {
	x = b.reshape(x, rows, columns)
	if columns == 1 {
		return x
	}
	sum := b.do(func() (*gorgonia.Node, error) { return gorgonia.Sum(x, 1) })
	return b.reshape(b.scale(sum, 1/float64(columns)), rows, 1)
}
