package gorgonia

import (
	"fmt"
	"math"

	"gorgonia.org/tensor"

	"autotune/workloads/model"
)

// leastPool is the least number of samples in a pool. Up to half of it the
// micro-batch does not change the pool's size; from there on the pool holds two of them.
const leastPool = 64

// pool holds ready samples, of which a step copies what it needs. Passes take
// neighbouring samples in order and begin again at the pool's end, so that passes
// that share a step's samples out differently see the same ones, as long as the pool holds them.
type pool[T model.Float] struct {
	microBatch int
	samples    int
	at         int // the next pass's first sample

	inputs  []T   // real inputs, sample by sample; nil for tokens
	tokens  []int // token inputs; nil for real ones
	targets []int // the classes to predict
}

// newPool makes the samples of a model. Each depends on the seed and its place alone.
func newPool[T model.Float](graph *model.Graph, seed uint64, microBatch int) *pool[T] {
	p := &pool[T]{microBatch: microBatch, samples: max(leastPool, 2*microBatch)}
	p.targets = make([]int, 0, p.samples*graph.Predictions())
	if graph.Vocabulary() > 0 {
		p.tokens = make([]int, 0, p.samples*graph.InputShape()[0])
	} else {
		p.inputs = make([]T, 0, p.samples*tensor.Shape(graph.InputShape()).TotalSize())
	}
	for i := range p.samples {
		s := model.NewStream(seed, fmt.Sprintf("data.sample.%d", i))
		if graph.Vocabulary() > 0 {
			p.addSequence(s, graph)
		} else {
			p.addImage(s, graph, seed)
		}
	}
	return p
}

// addImage adds an image of a class: the class's pattern of 4x4 fields per
// channel, plus noise, both of variance 1/2.
func (p *pool[T]) addImage(s *model.Stream, graph *model.Graph, seed uint64) {
	shape := graph.InputShape()
	channels, height, width := shape[0], shape[1], shape[2]
	class := s.Below(graph.Classes())
	fields := model.NewStream(seed, fmt.Sprintf("data.class.%d", class))
	pattern := make([]float64, channels*4*4)
	for i := range pattern {
		pattern[i] = fields.Normal()
	}
	for c := range channels {
		for y := range height {
			for x := range width {
				field := pattern[c*16+y*4/height*4+x*4/width]
				p.inputs = append(p.inputs, T((field+s.Normal())*math.Sqrt2/2))
			}
		}
	}
	p.targets = append(p.targets, class)
}

// addSequence adds a sequence of tokens: after a random first one, each is the
// follower of the one before, and one in eight is random. The target of each place is the token after it.
func (p *pool[T]) addSequence(s *model.Stream, graph *model.Graph) {
	vocabulary := graph.Vocabulary()
	token := s.Below(vocabulary)
	for range graph.InputShape()[0] {
		p.tokens = append(p.tokens, token)
		if s.Below(8) > 0 {
			token = (5*token + 17) % vocabulary
		} else {
			token = s.Below(vocabulary)
		}
		p.targets = append(p.targets, token)
	}
}

// next copies the next micro-batch into the network's inputs and gives its number of samples.
func (p *pool[T]) next(net *network) int {
	targets := net.target.Value().Data().([]T)
	clear(targets)
	perSample := len(p.targets) / p.samples
	classes := len(targets) / (p.microBatch * perSample)
	for i := range p.microBatch {
		sample := (p.at + i) % p.samples
		if p.inputs != nil {
			copySample(net.input.Value().Data().([]T), p.inputs, i, sample, p.samples)
		} else {
			copySample(net.input.Value().Data().([]int), p.tokens, i, sample, p.samples)
		}
		for j, class := range p.targets[sample*perSample : (sample+1)*perSample] {
			targets[(i*perSample+j)*classes+class] = 1
		}
	}
	p.at = (p.at + p.microBatch) % p.samples
	return p.microBatch
}

// copySample copies one sample of a pool into a place of a batch.
func copySample[E any](batch, pool []E, place, sample, samples int) {
	n := len(pool) / samples
	copy(batch[place*n:(place+1)*n], pool[sample*n:(sample+1)*n])
}
