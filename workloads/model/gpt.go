package model

import (
	"fmt"
	"math"
)

// vocabulary of gpt: one token per byte.
const vocabulary = 256

// gptInfo is a decoder-only transformer in the form of GPT-2 (Radford et al., 2019:
// normalisation before each part, GELU, trained positions) without dropout and with
// an output layer of its own. Size and recipe are those of nanoGPT for single
// characters (github.com/karpathy/nanoGPT, README.md and config/train_shakespeare_char.py).
func gptInfo() Info {
	return Info{
		Name:    "gpt",
		Summary: "decoder-only transformer over bytes",
		Options: []Option{
			{"layers", 4, 1 << 10, "transformer blocks"},
			{"width", 128, 1 << 14, "width of a token's vector; a multiple of heads"},
			{"heads", 4, 1 << 10, "attention heads of each block"},
			{"tokens", 64, 1 << 15, "tokens of a sequence"},
		},
		Recipe: Recipe{GlobalBatch: 64, Optimizer: "adamw", LearningRate: 0.1, WeightDecay: 0.1},
		build:  buildGPT,
	}
}

func buildGPT(name string, v values) (*Graph, error) {
	width := v["width"]
	init := Init{Normal, 0.02}
	b := NewBuilder(Input{Shape: []int{v["tokens"]}, Vocabulary: vocabulary})
	b.Add("wte", Embedding{Width: width, Init: init})
	b.Add("wpe", Positions{Init: init})
	for i := range v["layers"] {
		addTransformer(b, fmt.Sprintf("h.%d", i), width, v["heads"], v["layers"])
	}
	b.Add("ln_f", LayerNorm{Epsilon: 1e-5})
	b.Add("lm_head", Linear{Out: vocabulary, Init: init})
	return b.Graph(name, "sequence", gptInfo().Recipe)
}

// addTransformer adds one block. What is added to the residual stream begins
// smaller by the square root of the number of additions, two a block (GPT-2, section 2.3).
func addTransformer(b *Builder, name string, width, heads, layers int) {
	init := Init{Normal, 0.02}
	residual := Init{Normal, 0.02 / math.Sqrt(float64(2*layers))}

	in := b.Last()
	b.Add(name+".ln_1", LayerNorm{Epsilon: 1e-5})
	b.Add(name+".attn.c_attn", Linear{Out: 3 * width, Bias: true, Init: init})
	b.Add(name+".attn", Attention{Heads: heads})
	out := b.Add(name+".attn.c_proj", Linear{Out: width, Bias: true, Init: residual})
	in = b.Add(name+".add_1", Add{}, in, out)

	b.Add(name+".ln_2", LayerNorm{Epsilon: 1e-5})
	b.Add(name+".mlp.c_fc", Linear{Out: 4 * width, Bias: true, Init: init})
	b.Add(name+".mlp.gelu", GELU{})
	out = b.Add(name+".mlp.c_proj", Linear{Out: width, Bias: true, Init: residual})
	b.Add(name+".add_2", Add{}, in, out)
}
