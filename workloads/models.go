package workloads

import (
	"strconv"

	"autotune/harness"
	"autotune/workloads/model"
	"autotune/workloads/simulated"
)

// Model describes something that can be trained, with its options at their defaults.
type Model struct {
	Name    string             `json:"model"`
	Alias   map[string]string  `json:"alias_of,omitempty"` // kind of device to model; null: no alias
	Summary string             `json:"summary"`
	Engines []string           `json:"engines"` // that train it
	Facts   harness.ModelFacts `json:"facts"`   // of an alias: of the model that it stands for on the CPU
	Options []Option           `json:"options"`
}

// Option is what --set can choose of a model.
type Option struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Summary string `json:"summary"`
}

// Models are all models that Resolve knows, in the order to list them.
func Models() ([]Model, error) {
	var list []Model
	for _, info := range model.Models() {
		m, err := builtIn(info)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	device := Model{Name: Simulated, Summary: "a device with exact, seeded behaviour; it trains nothing", Engines: []string{Simulated},
		Facts: simulatedFacts(), Options: []Option{}}
	for _, s := range simulated.Settings() {
		device.Options = append(device.Options, Option{s.Name, s.Default, s.Summary})
	}
	return append(list, device), nil
}

// builtIn describes a model of the layer graph.
func builtIn(info model.Info) (Model, error) {
	m := Model{Name: info.Name, Alias: info.Alias, Summary: info.Summary, Engines: []string{Gorgonia, PyTorch}, Options: []Option{}}
	name, err := model.Resolve(info.Name, "cpu")
	if err != nil {
		return Model{}, err
	}
	graph, err := model.Build(name, nil)
	if err != nil {
		return Model{}, err
	}
	m.Facts = factsOf(graph)
	for _, o := range info.Options {
		m.Options = append(m.Options, Option{o.Name, strconv.Itoa(o.Default), o.Summary})
	}
	return m, nil
}

// factsOf are what the graph tells of a model before it runs.
func factsOf(g *model.Graph) harness.ModelFacts {
	return harness.ModelFacts{
		Parameters:      g.Parameters(),
		FLOPsPerSample:  g.FLOPs(),
		InputShape:      g.InputShape(),
		SampleUnit:      g.SampleUnit(),
		BatchNorm:       g.BatchNorm(),
		RecipeBatch:     g.Recipe().GlobalBatch,
		RecipeOptimizer: g.Recipe().Optimizer,
	}
}

// simulatedFacts say that there are no parameters to train and no recipe's
// batch: any global batch will do.
func simulatedFacts() harness.ModelFacts {
	return harness.ModelFacts{InputShape: []int{}, SampleUnit: "sample", RecipeOptimizer: "sgd"}
}
