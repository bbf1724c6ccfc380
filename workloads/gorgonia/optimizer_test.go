package gorgonia

import (
	"math"
	"testing"

	"autotune/workloads/model"
)

// Two steps of one weight, worked out by hand. The rate is 0.1, the decay 0.5, the
// weight begins at 1 and the gradients are 2 and -1.
func TestOptimizersStepAsDefined(t *testing.T) {
	// Adam's second moment begins as 0.001 g^2, so that the first step is the rate
	// times the gradient's sign; the second is worked out below.
	adam := func(d1, d2 float64, keep float64) []float64 {
		w1 := keep*1 - 0.1*d1/math.Abs(d1)
		m := 0.9*0.1*d1 + 0.1*d2
		v := 0.999*0.001*d1*d1 + 0.001*d2*d2
		return []float64{w1, keep*w1 - 0.1*(m/(1-0.81))/math.Sqrt(v/(1-0.998001))}
	}
	cases := []struct {
		optimizer string
		want      []float64 // the weight after each step
	}{
		// 1 - 0.1 (2 + 0.5); 0.75 - 0.1 (-1 + 0.375)
		{"sgd", []float64{0.75, 0.8125}},
		// v = 2.5; v = 0.9 x 2.5 - 1 + 0.375 = 1.625
		{"momentum", []float64{0.75, 0.5875}},
		// d = 2 + 0.5 = 2.5; d = -1 + 0.5 x 0.9 = -0.55
		{"adam", adam(2.5, -0.55, 1)},
		// the weight shrinks by 0.1 x 0.5 by itself
		{"adamw", adam(2, -1, 0.95)},
	}
	for _, c := range cases {
		o := &optimizer[float64]{name: c.optimizer, rate: 0.1, decay: []float64{0.5}, first: [][]float64{{0}}, second: [][]float64{{0}}}
		w := []float64{1}
		for i, g := range []float64{2, -1} {
			o.steps++
			o.update(0, w, []float64{g})
			if math.Abs(w[0]-c.want[i]) > 1e-7 {
				t.Errorf("%s: after step %d the weight is %.9f, want %.9f", c.optimizer, i+1, w[0], c.want[i])
			}
		}
	}
}

// An optimizer's step changes every parameter of a network and clears its gradients.
func TestOptimizersChangeAllWeights(t *testing.T) {
	graph, err := model.Build("gpt", map[string]string{"layers": "1", "width": "8", "heads": "2", "tokens": "4"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sgd", "momentum", "adam", "adamw"} {
		net, _ := newChecked(t, graph, 2)
		pass(t, net)
		var before [][]float64
		for _, p := range net.params {
			before = append(before, append([]float64{}, p.Value().Data().([]float64)...))
		}
		if err := newOptimizer[float64](name, graph, graph.Recipe().GlobalBatch).step(net); err != nil {
			t.Fatal(err)
		}
		for i, p := range net.params {
			weights, gradients, err := values[float64](p)
			if err != nil {
				t.Fatal(err)
			}
			changed := false
			for j := range weights {
				changed = changed || weights[j] != before[i][j]
				if gradients[j] != 0 {
					t.Fatalf("%s: a gradient of %s is left: %g", name, p.Name(), gradients[j])
				}
			}
			if !changed {
				t.Errorf("%s: %s did not change", name, p.Name())
			}
		}
	}
}
