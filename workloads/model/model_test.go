package model_test

import (
	"slices"
	"strings"
	"testing"

	"autotune/workloads/model"
)

func build(t *testing.T, name string, options map[string]string) *model.Graph {
	t.Helper()
	g, err := model.Build(name, options)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Parameters are those that torchvision gives for resnet18 and resnet50
// (docs.pytorch.org/vision/stable/models.html: 11689512 and 25557032), and multiply-adds
// too (1.81 and 4.09 billion there). The others are worked out by hand.
func TestFiguresOfTheModels(t *testing.T) {
	cases := []struct {
		name       string
		options    map[string]string
		parameters int64
		flops      int64 // 0: not checked
		input      []int
	}{
		{"mlp", nil, 784*512 + 512 + 512*512 + 512 + 512*10 + 10, 2 * (784*512 + 512*512 + 512*10), []int{1, 28, 28}},
		{"mlp", map[string]string{"width": "640"}, 784*640 + 640 + 640*640 + 640 + 640*10 + 10, 0, []int{1, 28, 28}},
		{"lenet", nil, 61706, 2 * (28*28*6*25 + 10*10*16*150 + 400*120 + 120*84 + 840), []int{1, 28, 28}},
		{"resnet20", nil, 272474, 0, []int{3, 32, 32}},
		{"resnet18", nil, 11689512, 0, []int{3, 224, 224}},
		{"resnet18", map[string]string{"classes": "10", "image": "32"}, 11689512 - 990*513, 0, []int{3, 32, 32}},
		{"resnet50", nil, 25557032, 0, []int{3, 224, 224}},
		// GPT-2's blocks have 12 width^2 + 13 width parameters each.
		{"gpt", nil, 4*(12*128*128+13*128) + 2*256*128 + 64*128 + 2*128, 64 * 2 * (4*(12*128*128+2*64*128) + 256*128), []int{64}},
	}
	for _, c := range cases {
		g := build(t, c.name, c.options)
		if g.Parameters() != c.parameters {
			t.Errorf("%s %v: %d parameters, want %d", c.name, c.options, g.Parameters(), c.parameters)
		}
		if c.flops != 0 && g.FLOPs() != c.flops {
			t.Errorf("%s %v: %d FLOPs, want %d", c.name, c.options, g.FLOPs(), c.flops)
		}
		if !slices.Equal(g.InputShape(), c.input) {
			t.Errorf("%s %v: input %v, want %v", c.name, c.options, g.InputShape(), c.input)
		}
		if r := g.Recipe(); r.GlobalBatch < 1 || r.Optimizer == "" || r.LearningRate <= 0 {
			t.Errorf("%s: recipe %+v", c.name, r)
		}
	}
}

func TestFLOPsOfPublishedModels(t *testing.T) {
	for name, published := range map[string]float64{"resnet18": 2 * 1.814e9, "resnet50": 2 * 4.089e9} {
		if got := float64(build(t, name, nil).FLOPs()); got < 0.999*published || got > 1.001*published {
			t.Errorf("%s: %g FLOPs, published %g", name, got, published)
		}
	}
}

func TestActivationBytes(t *testing.T) {
	// Two hidden layers of 512 with their ReLUs, and the logits.
	if got, want := build(t, "mlp", nil).ActivationBytes(4), int64(4*(4*512+10)); got != want {
		t.Errorf("mlp: %d bytes, want %d", got, want)
	}
	// conv and relu: 6x28x28, pool 6x14x14, conv and relu 16x10x10, pool 16x5x5, 120 and 84 with ReLUs, 10.
	want := int64(8 * (2*6*28*28 + 6*14*14 + 2*16*10*10 + 16*5*5 + 2*120 + 2*84 + 10))
	if got := build(t, "lenet", nil).ActivationBytes(8); got != want {
		t.Errorf("lenet: %d bytes, want %d", got, want)
	}
}

func TestParametersAreNamedOnce(t *testing.T) {
	for _, m := range model.Models() {
		if m.Alias != nil {
			continue
		}
		seen := map[string]bool{}
		for _, p := range build(t, m.Name, nil).Params() {
			if seen[p.Name] {
				t.Errorf("%s: two parameters are named %q", m.Name, p.Name)
			}
			seen[p.Name] = true
			if p.Decay != (len(p.Shape) > 1) {
				t.Errorf("%s: %q of shape %v has Decay %v", m.Name, p.Name, p.Shape, p.Decay)
			}
		}
	}
}

func TestResolve(t *testing.T) {
	cases := []struct{ name, device, want, wantError string }{
		{"resnet", "cpu", "resnet20", ""},
		{"resnet", "cuda", "resnet50", ""},
		{"gpt", "cuda", "gpt", ""},
		{"resnet", "tpu", "", "tpu"},
		{"resnet5", "cpu", "", `did you mean resnet?`},
		{"lnet", "cpu", "", `did you mean lenet?`},
		{"", "cpu", "", "mlp, lenet, resnet, resnet20, resnet18, resnet50, gpt"},
	}
	for _, c := range cases {
		got, err := model.Resolve(c.name, c.device)
		check(t, c.name+" on "+c.device, err, c.wantError)
		if got != c.want {
			t.Errorf("%s on %s: %q, want %q", c.name, c.device, got, c.want)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	cases := []struct {
		model, option, value string
		wantError            string
	}{
		{"nlp", "", "", `did you mean mlp?`},
		{"resnet", "", "", "alias"},
		{"mlp", "widht", "3", `did you mean width?`},
		{"gpt", "depth", "3", "it has: layers, width, heads, tokens"},
		{"lenet", "width", "3", "has no options"},
		{"mlp", "width", "0", "from 1 to 65536"},
		{"mlp", "width", "65537", "from 1 to 65536"},
		{"mlp", "width", "ten", `"ten"`},
		{"mlp", "width", "1.5", `"1.5"`},
		{"gpt", "heads", "3", `layer "h.0.attn"`},
	}
	for _, c := range cases {
		options := map[string]string{}
		if c.option != "" {
			options[c.option] = c.value
		}
		_, err := model.Build(c.model, options)
		check(t, c.model+" "+c.option+"="+c.value, err, c.wantError)
	}
}

func TestBuilderNamesTheLayer(t *testing.T) {
	image := model.Input{Shape: []int{3, 8, 8}}
	cases := []struct {
		name      string
		input     model.Input
		add       func(b *model.Builder)
		wantError string
	}{
		{"no input shape", model.Input{}, func(*model.Builder) {}, `layer "input"`},
		{"a side of 0", model.Input{Shape: []int{3, 0}}, func(*model.Builder) {}, `layer "input"`},
		{"linear on an image", image, func(b *model.Builder) { b.Add("fc", model.Linear{Out: 2}) }, `layer "fc"`},
		{"linear to nothing", image, func(b *model.Builder) {
			b.Add("flat", model.Flatten{})
			b.Add("fc", model.Linear{})
		}, `layer "fc"`},
		{"no filters", image, func(b *model.Builder) { b.Add("conv", model.Conv{Kernel: 3, Stride: 1}) }, `layer "conv"`},
		{"window too large", image, func(b *model.Builder) { b.Add("conv", model.Conv{Filters: 1, Kernel: 9, Stride: 1}) }, "9x9"},
		{"no stride", image, func(b *model.Builder) { b.Add("pool", model.MaxPool{Kernel: 2}) }, `layer "pool"`},
		{"too much padding", image, func(b *model.Builder) { b.Add("pool", model.MaxPool{Kernel: 2, Stride: 2, Pad: 2}) }, `layer "pool"`},
		{"epsilon of 0", image, func(b *model.Builder) { b.Add("bn", model.BatchNorm{}) }, `layer "bn"`},
		{"shapes that differ", image, func(b *model.Builder) {
			in := b.Last()
			b.Add("add", model.Add{}, in, b.Add("pool", model.MaxPool{Kernel: 2, Stride: 2}))
		}, `layer "add"`},
		{"one input of two", image, func(b *model.Builder) { b.Add("add", model.Add{}) }, "takes 2 inputs"},
		{"a name twice", image, func(b *model.Builder) { b.Add("a", model.ReLU{}); b.Add("a", model.ReLU{}) }, `layer "a"`},
		{"embedding of real numbers", image, func(b *model.Builder) { b.Add("wte", model.Embedding{Width: 4}) }, `layer "wte"`},
		{"layer norm on an image", image, func(b *model.Builder) { b.Add("ln", model.LayerNorm{Epsilon: 1}) }, `layer "ln"`},
		{"logits that are images", image, func(b *model.Builder) { b.Add("relu", model.ReLU{}) }, `layer "relu"`},
	}
	for _, c := range cases {
		b := model.NewBuilder(c.input)
		c.add(b)
		b.Add("after", model.ReLU{}) // what comes after an error does not hide it
		_, err := b.Graph("test", "image", model.Recipe{})
		if c.name == "logits that are images" {
			c.wantError = `layer "after"`
		}
		check(t, c.name, err, c.wantError)
	}
}

// check holds an error against the text that it must contain; empty: there must be none.
func check(t *testing.T, name string, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", name, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: the error is %v, want one with %q", name, err, want)
	}
}

func TestRateFallsWithSmallBatches(t *testing.T) {
	r := model.Recipe{GlobalBatch: 128, LearningRate: 0.1}
	cases := []struct {
		optimizer string
		samples   int
		want      float64
	}{{"momentum", 128, 0.1}, {"sgd", 64, 0.05}, {"momentum", 1000, 0.1}, {"adamw", 128, 1e-3}, {"adam", 32, 2.5e-4}}
	for _, c := range cases {
		if got := r.Rate(c.optimizer, c.samples); got != c.want {
			t.Errorf("%s at %d samples: %g, want %g", c.optimizer, c.samples, got, c.want)
		}
	}
}

// Whatever is written for an option gives a model of that size or an error.
func FuzzBuildOptions(f *testing.F) {
	for _, s := range []string{"1", "640", "0", "-1", "1e3", "", "65537", "99999999999999999999"} {
		f.Add("width", s)
	}
	f.Add("heads", "2")
	f.Fuzz(func(t *testing.T, option, value string) {
		g, err := model.Build("mlp", map[string]string{option: value})
		if err == nil && (option != "width" || g.Parameters() < 784) {
			t.Errorf("option %q of %q gives %d parameters", option, value, g.Parameters())
		}
	})
}
