package gorgonia

import (
	"math"

	"autotune/workloads/model"
)

// reference works out a model's loss sample by sample with plain loops in 64 bits,
// from nothing but the definitions in the doc comments of package model.
type reference struct {
	graph   *model.Graph
	weights map[string][]float64
	inputs  [][]float64 // per sample; tokens as numbers
	targets [][]int     // per sample
}

// loss is the mean cross-entropy over all predictions.
func (r reference) loss() float64 {
	out := map[*model.Layer][][]float64{}
	var last *model.Layer
	for _, l := range r.graph.Layers() {
		out[l] = r.layer(l, out)
		last = l
	}
	var sum float64
	var n int
	classes := r.graph.Classes()
	for s, logits := range out[last] {
		for i, class := range r.targets[s] {
			row := logits[i*classes : (i+1)*classes]
			var total float64
			for _, x := range row {
				total += math.Exp(x)
			}
			sum -= row[class] - math.Log(total)
			n++
		}
	}
	return sum / float64(n)
}

// layer gives the output of a layer for every sample.
func (r reference) layer(l *model.Layer, out map[*model.Layer][][]float64) [][]float64 {
	if _, ok := l.Op.(model.Input); ok {
		return r.inputs
	}
	in := out[l.Inputs[0]]
	if op, ok := l.Op.(model.BatchNorm); ok {
		return r.batchNorm(l, op, in)
	}
	var y [][]float64
	for s, x := range in {
		switch op := l.Op.(type) {
		case model.Flatten:
			y = append(y, x)
		case model.ReLU:
			y = append(y, each(x, func(v float64) float64 { return max(v, 0) }))
		case model.GELU:
			y = append(y, each(x, func(v float64) float64 {
				return v / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(v+0.044715*v*v*v)))
			}))
		case model.Add:
			sum := each(x, func(v float64) float64 { return v })
			for i, v := range out[l.Inputs[1]][s] {
				sum[i] += v
			}
			y = append(y, sum)
		case model.Linear:
			y = append(y, r.linear(l, x))
		case model.Conv:
			y = append(y, r.conv(l, op, x))
		case model.MaxPool:
			y = append(y, maxPool(l, op, x))
		case model.GlobalAveragePool:
			y = append(y, averagePool(l, x))
		case model.Embedding:
			y = append(y, r.embedding(l, op, x))
		case model.Positions:
			sum := each(x, func(v float64) float64 { return v })
			for i, v := range r.weights[l.Name+".weight"] {
				sum[i] += v
			}
			y = append(y, sum)
		case model.LayerNorm:
			y = append(y, r.layerNorm(l, op, x))
		case model.Attention:
			y = append(y, attention(l, op, x))
		}
	}
	return y
}

func each(x []float64, f func(float64) float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = f(v)
	}
	return y
}

func (r reference) linear(l *model.Layer, x []float64) []float64 {
	w, bias := r.weights[l.Name+".weight"], r.weights[l.Name+".bias"]
	out := l.Shape[len(l.Shape)-1]
	in := l.Params[0].Shape[0]
	var y []float64
	for row := 0; row < len(x); row += in {
		for o := range out {
			var sum float64
			if bias != nil {
				sum = bias[o]
			}
			for i := range in {
				sum += x[row+i] * w[i*out+o]
			}
			y = append(y, sum)
		}
	}
	return y
}

func (r reference) conv(l *model.Layer, op model.Conv, x []float64) []float64 {
	w, bias := r.weights[l.Name+".weight"], r.weights[l.Name+".bias"]
	in := l.Inputs[0].Shape
	var y []float64
	for f := range op.Filters {
		for oy := range l.Shape[1] {
			for ox := range l.Shape[2] {
				var sum float64
				if bias != nil {
					sum = bias[f]
				}
				for c := range in[0] {
					for ky := range op.Kernel {
						for kx := range op.Kernel {
							iy, ix := oy*op.Stride+ky-op.Pad, ox*op.Stride+kx-op.Pad
							if iy >= 0 && iy < in[1] && ix >= 0 && ix < in[2] {
								sum += x[(c*in[1]+iy)*in[2]+ix] * w[((f*in[0]+c)*op.Kernel+ky)*op.Kernel+kx]
							}
						}
					}
				}
				y = append(y, sum)
			}
		}
	}
	return y
}

func maxPool(l *model.Layer, op model.MaxPool, x []float64) []float64 {
	in := l.Inputs[0].Shape
	var y []float64
	for c := range in[0] {
		for oy := range l.Shape[1] {
			for ox := range l.Shape[2] {
				best := math.Inf(-1)
				for iy := max(0, oy*op.Stride-op.Pad); iy < min(in[1], oy*op.Stride-op.Pad+op.Kernel); iy++ {
					for ix := max(0, ox*op.Stride-op.Pad); ix < min(in[2], ox*op.Stride-op.Pad+op.Kernel); ix++ {
						best = max(best, x[(c*in[1]+iy)*in[2]+ix])
					}
				}
				y = append(y, best)
			}
		}
	}
	return y
}

func averagePool(l *model.Layer, x []float64) []float64 {
	y := make([]float64, l.Shape[0])
	pixels := len(x) / len(y)
	for i, v := range x {
		y[i/pixels] += v / float64(pixels)
	}
	return y
}

func (r reference) batchNorm(l *model.Layer, op model.BatchNorm, in [][]float64) [][]float64 {
	scale, shift := r.weights[l.Name+".weight"], r.weights[l.Name+".bias"]
	means, variances := channelMoments(in, l.Shape[0])
	var y [][]float64
	for _, x := range in {
		pixels := len(x) / l.Shape[0]
		out := make([]float64, len(x))
		for i, v := range x {
			c := i / pixels
			out[i] = (v-means[c])/math.Sqrt(variances[c]+op.Epsilon)*scale[c] + shift[c]
		}
		y = append(y, out)
	}
	return y
}

// channelMoments are each channel's mean and (biased) variance over the batch and the image.
func channelMoments(in [][]float64, channels int) (means, variances []float64) {
	means, variances = make([]float64, channels), make([]float64, channels)
	pixels := len(in[0]) / channels
	n := float64(len(in) * pixels)
	for _, x := range in {
		for i, v := range x {
			means[i/pixels] += v / n
		}
	}
	for _, x := range in {
		for i, v := range x {
			d := v - means[i/pixels]
			variances[i/pixels] += d * d / n
		}
	}
	return means, variances
}

func (r reference) embedding(l *model.Layer, op model.Embedding, x []float64) []float64 {
	var y []float64
	for _, token := range x {
		y = append(y, r.weights[l.Name+".weight"][int(token)*op.Width:(int(token)+1)*op.Width]...)
	}
	return y
}

func (r reference) layerNorm(l *model.Layer, op model.LayerNorm, x []float64) []float64 {
	scale, shift := r.weights[l.Name+".weight"], r.weights[l.Name+".bias"]
	width := l.Shape[1]
	var y []float64
	for row := 0; row < len(x); row += width {
		var mean, variance float64
		for _, v := range x[row : row+width] {
			mean += v / float64(width)
		}
		for _, v := range x[row : row+width] {
			variance += (v - mean) * (v - mean) / float64(width)
		}
		for i, v := range x[row : row+width] {
			y = append(y, (v-mean)/math.Sqrt(variance+op.Epsilon)*scale[i]+shift[i])
		}
	}
	return y
}

func attention(l *model.Layer, op model.Attention, x []float64) []float64 {
	tokens, width := l.Shape[0], l.Shape[1]
	size := width / op.Heads
	y := make([]float64, tokens*width)
	part := func(token, part, head int) []float64 {
		at := token*3*width + part*width + head*size
		return x[at : at+size]
	}
	for head := range op.Heads {
		for t := range tokens {
			weights := make([]float64, t+1)
			var total float64
			for u := range weights {
				var dot float64
				for i, q := range part(t, 0, head) {
					dot += q * part(u, 1, head)[i]
				}
				weights[u] = math.Exp(dot / math.Sqrt(float64(size)))
				total += weights[u]
			}
			for u, w := range weights {
				for i, v := range part(u, 2, head) {
					y[t*width+head*size+i] += w / total * v
				}
			}
		}
	}
	return y
}
