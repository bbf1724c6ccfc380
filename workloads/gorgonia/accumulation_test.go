package gorgonia

import (
	"fmt"
	"math"
	"testing"

	"autotune/workloads/model"
)

// Without batch normalisation, the gradients that the passes of a step add up are
// those of one pass over all its samples, and so is the loss.
func TestAccumulatedGradientIsThatOfTheWholeBatch(t *testing.T) {
	for name, options := range map[string]map[string]string{
		"mlp":   {"width": "6"},
		"lenet": nil,
		"gpt":   {"layers": "1", "width": "8", "heads": "2", "tokens": "4"},
	} {
		graph, err := model.Build(name, options)
		if err != nil {
			t.Fatal(err)
		}
		loss, gradients := accumulate(t, graph, 6, 1)
		for _, micro := range []int{1, 2, 3} {
			l, g := accumulate(t, graph, micro, 6/micro)
			if d := math.Abs(l - loss); d > 1e-12*loss {
				t.Errorf("%s %dx%d: the loss differs by %g", name, micro, 6/micro, d)
			}
			if d := distance(g, gradients); d > 1e-12 {
				t.Errorf("%s %dx%d: the gradient differs by %g", name, micro, 6/micro, d)
			}
		}
	}
}

// With batch normalisation it differs, since each pass is normalised by itself.
func TestAccumulatedGradientDiffersWithBatchNorm(t *testing.T) {
	graph, err := model.Build("resnet20", map[string]string{"image": "8"})
	if err != nil {
		t.Fatal(err)
	}
	_, whole := accumulate(t, graph, 4, 1)
	_, parts := accumulate(t, graph, 2, 2)
	if d := distance(whole, parts); d < 1e-3 {
		t.Errorf("the gradients differ by %g only", d)
	}
}

// accumulate runs the passes of one step and gives its loss and gradients.
func accumulate(t *testing.T, graph *model.Graph, micro, accumulation int) (loss float64, gradients []float64) {
	t.Helper()
	const seed = 3
	net, err := lower[float64](graph, micro, accumulation, seed)
	if err != nil {
		t.Fatal(err)
	}
	data := newPool[float64](graph, seed, micro)
	for range accumulation {
		data.next(net)
		loss += pass(t, net)
	}
	return loss, gradientsOf(t, net)
}

// distance is the length of the difference of two vectors, over that of the second.
func distance(a, b []float64) float64 {
	var d, n float64
	for i := range b {
		d += (a[i] - b[i]) * (a[i] - b[i])
		n += b[i] * b[i]
	}
	return math.Sqrt(d / n)
}

// The running statistics move by the layer's momentum toward the batch's, from a
// mean of 0 and a variance of 1; the variance is the unbiased one.
func TestBatchNormKeepsRunningStatistics(t *testing.T) {
	b := model.NewBuilder(model.Input{Shape: []int{3, 4, 4}})
	b.Add("norm", model.BatchNorm{Epsilon: 1e-5, Momentum: 0.1})
	b.Add("pool", model.GlobalAveragePool{})
	b.Add("head", model.Linear{Out: 2})
	graph, err := b.Graph("norm", "image", model.Recipe{GlobalBatch: 1})
	if err != nil {
		t.Fatal(err)
	}
	net, ref := newChecked(t, graph, 2)
	pass(t, net)
	pass(t, net) // the same batch again
	mean, variance := net.norms["norm"].Stats()
	wantMean, wantVariance := channelMoments(ref.inputs, 3)
	n := float64(2 * 4 * 4)
	for c := range 3 {
		want := (1 - 0.9*0.9) * wantMean[c]
		if got := mean.Data().([]float64)[c]; math.Abs(got-want) > 1e-12 {
			t.Errorf("channel %d: running mean %g, want %g", c, got, want)
		}
		want = 0.9*0.9 + (1-0.9*0.9)*wantVariance[c]*n/(n-1)
		if got := variance.Data().([]float64)[c]; math.Abs(got-want) > 1e-12 {
			t.Errorf("channel %d: running variance %g, want %g", c, got, want)
		}
	}
}

// A pool gives the same samples in the same order however passes share them out,
// begins again at its end, and depends on the seed.
func TestPoolGivesSamplesInOrder(t *testing.T) {
	for name, options := range map[string]map[string]string{
		"mlp": {"width": "2"},
		"gpt": {"layers": "1", "width": "2", "heads": "1", "tokens": "4"},
	} {
		graph, err := model.Build(name, options)
		if err != nil {
			t.Fatal(err)
		}
		one := drawn(t, graph, 1, 1, 66)
		if three := drawn(t, graph, 1, 3, 22); fmt.Sprint(one) != fmt.Sprint(three) {
			t.Errorf("%s: passes of one and of three samples see different ones", name)
		}
		if fmt.Sprint(one[:2]) != fmt.Sprint(one[64:]) {
			t.Errorf("%s: sample 64 of a pool of 64 is not its first", name)
		}
		if other := drawn(t, graph, 2, 1, 1); fmt.Sprint(other[0]) == fmt.Sprint(one[0]) {
			t.Errorf("%s: two seeds give one sample", name)
		}
	}
}

// drawn are the classes and the first inputs that so many passes get, sample by sample.
func drawn(t *testing.T, graph *model.Graph, seed uint64, micro, passes int) [][]float64 {
	t.Helper()
	net, err := lower[float64](graph, micro, 1, seed)
	if err != nil {
		t.Fatal(err)
	}
	data := newPool[float64](graph, seed, micro)
	var all [][]float64
	for range passes {
		if n := data.next(net); n != micro {
			t.Fatalf("a pass of %d samples copied %d", micro, n)
		}
		targets := net.target.Value().Data().([]float64)
		for i := range micro {
			sample := append([]float64{}, targets[i*len(targets)/micro:(i+1)*len(targets)/micro]...)
			switch x := net.input.Value().Data().(type) {
			case []float64:
				sample = append(sample, x[i*len(x)/micro])
			case []int:
				sample = append(sample, float64(x[i*len(x)/micro]))
			}
			all = append(all, sample)
		}
	}
	return all
}

// A pass leaves nothing behind but its gradients: a second one of the same samples has
// the same loss, and doubles them. Running statistics take no part in training.
func TestPassesRepeat(t *testing.T) {
	for name, options := range map[string]map[string]string{
		"mlp":      {"width": "6"},
		"lenet":    nil,
		"resnet20": {"image": "8"},
		"gpt":      {"layers": "2", "width": "8", "heads": "2", "tokens": "4"},
	} {
		graph, err := model.Build(name, options)
		if err != nil {
			t.Fatal(err)
		}
		net, _ := newChecked(t, graph, 2)
		first := pass(t, net)
		before := gradientsOf(t, net)
		if second := pass(t, net); math.Abs(second-first) > 1e-12*math.Abs(first) {
			t.Errorf("%s: the loss of the first pass is %.15g, of the second %.15g", name, first, second)
		}
		for i := range before {
			before[i] *= 2
		}
		if d := distance(gradientsOf(t, net), before); d > 1e-10 {
			t.Errorf("%s: two passes give gradients that differ from twice those of one by %g", name, d)
		}
	}
}

// gradientsOf is a copy of all gradients of a network.
func gradientsOf(t *testing.T, net *network) []float64 {
	t.Helper()
	var all []float64
	for _, p := range net.params {
		_, g, err := values[float64](p)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, g...)
	}
	return all
}

// The smallest models and batches that there are.
func TestSmallestSizesStep(t *testing.T) {
	for _, c := range []struct {
		model   string
		options map[string]string
		micro   int
	}{
		{"mlp", map[string]string{"width": "1"}, 1},
		{"lenet", nil, 1},
		{"gpt", map[string]string{"layers": "1", "width": "1", "heads": "1", "tokens": "1"}, 1},
		{"resnet20", map[string]string{"image": "1", "classes": "1"}, 2},
	} {
		graph, err := model.Build(c.model, c.options)
		if err != nil {
			t.Fatal(err)
		}
		loss, gradients := accumulate(t, graph, c.micro, 2)
		if math.IsNaN(loss) || math.IsInf(loss, 0) || len(gradients) != int(graph.Parameters()) {
			t.Errorf("%s %v: the loss is %g", c.model, c.options, loss)
		}
	}
}
