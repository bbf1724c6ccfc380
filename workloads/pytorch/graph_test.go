package pytorch_test

import (
	"encoding/json"
	"strings"
	"testing"

	"autotune/workloads/model"
	"autotune/workloads/pytorch"
)

// TestGraphJSON holds every built-in model's layers against what the graph itself says.
func TestGraphJSON(t *testing.T) {
	for _, info := range model.Models() {
		if info.Alias != nil {
			continue
		}
		graph, err := model.Build(info.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		data, err := pytorch.GraphJSON(graph)
		if err != nil {
			t.Errorf("%s: %v", info.Name, err)
			continue
		}
		var read struct {
			Vocabulary, Classes, Predictions int
			InputShape                       []int `json:"input_shape"`
			Layers                           []struct {
				Name, Op string
				Inputs   []string
				Params   []struct {
					Name, Init string
					Shape      []int
				}
			}
		}
		if err := json.Unmarshal(data, &read); err != nil {
			t.Fatal(err)
		}
		parameters, seen := int64(0), map[string]bool{}
		for _, l := range read.Layers {
			for _, in := range l.Inputs {
				if !seen[in] {
					t.Errorf("%s: layer %s takes %s, which does not come before it", info.Name, l.Name, in)
				}
			}
			seen[l.Name] = true
			for _, p := range l.Params {
				n := int64(1)
				for _, side := range p.Shape {
					n *= int64(side)
				}
				parameters += n
				if p.Init == "" || !strings.HasPrefix(p.Name, l.Name+".") {
					t.Errorf("%s: parameter %+v of layer %s", info.Name, p, l.Name)
				}
			}
		}
		if parameters != graph.Parameters() || len(read.Layers) != len(graph.Layers()) || read.Classes != graph.Classes() ||
			read.Vocabulary != graph.Vocabulary() || read.Predictions != graph.Predictions() || len(read.InputShape) == 0 {
			t.Errorf("%s: %d parameters in %d layers, %d classes", info.Name, parameters, len(read.Layers), read.Classes)
		}
	}
}

// TestGraphJSONLayer holds the form of one layer, which the worker depends on.
func TestGraphJSONLayer(t *testing.T) {
	graph, err := model.Build("resnet20", nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := pytorch.GraphJSON(graph)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`{"recipe":{"global_batch":128,"learning_rate":0.1,"weight_decay":0.0001},"vocabulary":0,"classes":10,"predictions":1,"input_shape":[3,32,32],"layers":[{"name":"input","op":"input","inputs":[],"params":[]},`,
		`{"name":"conv1","op":"conv","inputs":["input"],"params":[{"name":"conv1.weight","shape":[16,3,3,3],"init":"normal",`,
		`"decay":true}],"filters":16,"kernel":3,"stride":1,"pad":1,"bias":false}`,
	} {
		if !strings.Contains(string(data), part) {
			t.Errorf("%s is not in %.600s", part, data)
		}
	}
}
