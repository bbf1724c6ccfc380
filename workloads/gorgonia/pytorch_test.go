package gorgonia

import (
	"bytes"
	bytesof "encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"testing"

	"autotune/workloads/model"
	"autotune/workloads/pytorch"
)

// The first gradients of both engines, of the same weights and samples: PyTorch's against those of this engine.
func TestFirstGradientIsThatOfPyTorch(t *testing.T) {
	var cases []firstPass
	for _, c := range []struct {
		model   string
		options map[string]string
	}{
		{"mlp", map[string]string{"width": "64"}},
		{"lenet", nil},
		{"resnet20", map[string]string{"image": "8"}},
		{"gpt", map[string]string{"layers": "2", "width": "32", "heads": "4", "tokens": "16"}},
	} {
		graph, err := model.Build(c.model, c.options)
		if err != nil {
			t.Fatal(err)
		}
		cases = append(cases, firstPass{c.model, graph, fp64, 1e-9, 1e-9}, firstPass{c.model, graph, fp32, 1e-5, 1e-3})
	}
	for _, variable := range []string{"AUTOTUNE_PYTHON_OLD", "AUTOTUNE_PYTHON_NEW"} {
		t.Run(variable, func(t *testing.T) {
			for i, want := range ask(t, interpreter(t, variable), cases) {
				cases[i].compare(t, want)
			}
		})
	}
}

// firstPass is a pass of a model in a precision, and how far the engines may be apart: the losses by a part of the
// loss, the gradients of all parameters by a part of their norm.
type firstPass struct {
	name      string
	graph     *model.Graph
	precision string
	loss      float64
	gradient  float64
}

// The passes' size and seed.
const microBatch, seed = 4, 1

// interpreter is the Python of a variable; where it is not set, the test is skipped, or fails.
func interpreter(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" && os.Getenv("AUTOTUNE_REQUIRE_PYTHON") == "1" {
		t.Fatalf("%s is not set; it names a Python interpreter", variable)
	} else if path == "" {
		t.Skipf("%s is not set; it names a Python interpreter", variable)
	}
	return path
}

// compare holds loss and gradients of this engine, in that order, against those wanted.
func (f firstPass) compare(t *testing.T, want []float64) {
	t.Helper()
	got := f.run(t)
	if len(got) != len(want) {
		t.Fatalf("%s, %s: %d gradients, PyTorch has %d", f.name, f.precision, len(got)-1, len(want)-1)
	}
	loss, gradient := relative(got[:1], want[:1]), relative(got[1:], want[1:])
	t.Logf("%s, %s: the first losses differ by %.2g, the first gradients by %.2g of their norm", f.name, f.precision, loss, gradient)
	if !(loss <= f.loss) || !(gradient <= f.gradient) {
		t.Errorf("%s, %s: the first losses differ by %g, the first gradients by %g of their norm; they may by %g and %g",
			f.name, f.precision, loss, gradient, f.loss, f.gradient)
	}
}

func (f firstPass) run(t *testing.T) []float64 {
	if f.precision == fp64 {
		return gradients[float64](t, f.graph)
	}
	return gradients[float32](t, f.graph)
}

// gradients are this engine's first loss, and the gradients of all parameters in their order.
func gradients[T model.Float](t *testing.T, graph *model.Graph) []float64 {
	t.Helper()
	net, err := lower[T](graph, microBatch, 1, seed)
	if err != nil {
		t.Fatal(err)
	}
	newPool[T](graph, seed, microBatch).next(net)
	all := []float64{pass(t, net)}
	for _, p := range net.params {
		_, own, err := values[T](p)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range own {
			all = append(all, float64(g))
		}
	}
	return all
}

// ask gives PyTorch's loss and gradients of each pass.
func ask(t *testing.T, python string, passes []firstPass) [][]float64 {
	t.Helper()
	var works []map[string]any
	for _, f := range passes {
		layers, err := pytorch.GraphJSON(f.graph)
		if err != nil {
			t.Fatal(err)
		}
		works = append(works, map[string]any{"graph": layers, "optimizer": "sgd", "seed": seed, "precision": f.precision,
			"micro_batch": microBatch, "accumulation_steps": 1})
	}
	input, err := json.Marshal(works)
	if err != nil {
		t.Fatal(err)
	}
	script := exec.Command(python, "-B", "testdata/gradients.py")
	script.Dir, script.Stdin = "../pytorch", bytes.NewReader(input)
	output, err := script.Output()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		t.Fatalf("%v: %s", err, failed.Stderr)
	} else if err != nil {
		t.Fatal(err)
	}
	return split(t, output, passes)
}

// split reads 64-bit numbers and gives each pass its own.
func split(t *testing.T, output []byte, passes []firstPass) [][]float64 {
	t.Helper()
	var all [][]float64
	for _, f := range passes {
		numbers := make([]float64, 1+f.graph.Parameters())
		if len(output) < 8*len(numbers) {
			t.Fatalf("%s, %s: PyTorch has fewer parameters than %d", f.name, f.precision, len(numbers)-1)
		}
		for i := range numbers {
			numbers[i] = math.Float64frombits(bytesof.LittleEndian.Uint64(output[8*i:]))
		}
		all, output = append(all, numbers), output[8*len(numbers):]
	}
	if len(output) > 0 {
		t.Fatalf("PyTorch has %d numbers more", len(output)/8)
	}
	return all
}

// relative is the norm of the difference over the norm of what is wanted.
func relative(got, want []float64) float64 {
	var difference, norm float64
	for i := range want {
		difference += (got[i] - want[i]) * (got[i] - want[i])
		norm += want[i] * want[i]
	}
	return math.Sqrt(difference / norm)
}
