package pytorch

import (
	"encoding/json"
	"fmt"

	"autotune/workloads/model"
)

// GraphJSON writes a built-in model's layers as the worker reads them (docs/protocol.md): weights and
// data are not in it, since the worker makes them from the seed.
func GraphJSON(g *model.Graph) (json.RawMessage, error) {
	recipe := g.Recipe()
	out := graphJSON{
		Recipe:     recipeJSON{recipe.GlobalBatch, recipe.LearningRate, recipe.WeightDecay},
		Vocabulary: g.Vocabulary(), Classes: g.Classes(), Predictions: g.Predictions(),
		InputShape: g.InputShape(),
	}
	for _, l := range g.Layers() {
		layer, err := layerOf(l)
		if err != nil {
			return nil, err
		}
		out.Layers = append(out.Layers, layer)
	}
	return json.Marshal(out)
}

type graphJSON struct {
	Recipe      recipeJSON  `json:"recipe"`
	Vocabulary  int         `json:"vocabulary"` // 0: the input is real numbers
	Classes     int         `json:"classes"`
	Predictions int         `json:"predictions"` // that one sample makes
	InputShape  []int       `json:"input_shape"`
	Layers      []layerJSON `json:"layers"`
}

type recipeJSON struct {
	GlobalBatch  int     `json:"global_batch"`
	LearningRate float64 `json:"learning_rate"`
	WeightDecay  float64 `json:"weight_decay"`
}

type layerJSON struct {
	Name   string      `json:"name"`
	Op     string      `json:"op"`
	Inputs []string    `json:"inputs"`
	Params []paramJSON `json:"params"`
	opJSON
}

// opJSON are the fields of all operations; each has its own, and the others are absent.
type opJSON struct {
	Filters  int      `json:"filters,omitempty"`
	Kernel   int      `json:"kernel,omitempty"`
	Stride   int      `json:"stride,omitempty"`
	Pad      *int     `json:"pad,omitempty"`
	Bias     *bool    `json:"bias,omitempty"`
	Epsilon  *float64 `json:"epsilon,omitempty"`
	Momentum *float64 `json:"momentum,omitempty"`
	Out      int      `json:"out,omitempty"`
	Width    int      `json:"width,omitempty"`
	Heads    int      `json:"heads,omitempty"`
}

type paramJSON struct {
	Name  string  `json:"name"`
	Shape []int   `json:"shape"`
	Init  string  `json:"init"` // constant, uniform or normal
	Scale float64 `json:"scale"`
	Decay bool    `json:"decay"`
}

func layerOf(l *model.Layer) (layerJSON, error) {
	name, fields, err := opOf(l.Op)
	if err != nil {
		return layerJSON{}, fmt.Errorf("layer %q: %w", l.Name, err)
	}
	out := layerJSON{Name: l.Name, Op: name, opJSON: fields, Inputs: []string{}, Params: []paramJSON{}}
	for _, in := range l.Inputs {
		out.Inputs = append(out.Inputs, in.Name)
	}
	for _, p := range l.Params {
		out.Params = append(out.Params, paramJSON{p.Name, p.Shape, initNames[p.Init.Kind], p.Init.Scale, p.Decay})
	}
	return out, nil
}

var initNames = map[model.InitKind]string{model.Constant: "constant", model.Uniform: "uniform", model.Normal: "normal"}

// opOf gives an operation's name and fields.
func opOf(op model.Op) (string, opJSON, error) {
	switch op := op.(type) {
	case model.Input:
		return "input", opJSON{}, nil
	case model.Conv:
		return "conv", opJSON{Filters: op.Filters, Kernel: op.Kernel, Stride: op.Stride, Pad: &op.Pad, Bias: &op.Bias}, nil
	case model.MaxPool:
		return "max_pool", opJSON{Kernel: op.Kernel, Stride: op.Stride, Pad: &op.Pad}, nil
	case model.BatchNorm:
		return "batch_norm", opJSON{Epsilon: &op.Epsilon, Momentum: &op.Momentum}, nil
	case model.GlobalAveragePool:
		return "global_average_pool", opJSON{}, nil
	case model.ReLU:
		return "relu", opJSON{}, nil
	case model.GELU:
		return "gelu", opJSON{}, nil
	case model.Add:
		return "add", opJSON{}, nil
	case model.Flatten:
		return "flatten", opJSON{}, nil
	case model.Linear:
		return "linear", opJSON{Out: op.Out, Bias: &op.Bias}, nil
	case model.Embedding:
		return "embedding", opJSON{Width: op.Width}, nil
	case model.Positions:
		return "positions", opJSON{}, nil
	case model.LayerNorm:
		return "layer_norm", opJSON{Epsilon: &op.Epsilon}, nil
	case model.Attention:
		return "attention", opJSON{Heads: op.Heads}, nil
	}
	return "", opJSON{}, fmt.Errorf("the worker has no operation %T", op)
}
