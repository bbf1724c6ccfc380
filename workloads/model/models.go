package model

import (
	"fmt"
	"strings"

	"autotune/workloads/nearest"
)

// Info describes a model before it is built.
type Info struct {
	Name    string
	Summary string
	Options []Option
	Recipe  Recipe
	// Alias maps a kind of device, cpu or cuda, to the model that the name stands
	// for there; nil: the name is a model of its own.
	Alias map[string]string

	build func(name string, v values) (*Graph, error)
}

// Models are all names that Resolve knows, models and aliases, in the order to list them.
func Models() []Info {
	return []Info{
		mlpInfo(), lenetInfo(), resnetAlias(),
		resnet20Info(), resnet18Info(), resnet50Info(), gptInfo(),
	}
}

// Resolve gives the model that a name stands for on a kind of device: cpu or
// cuda. A name that is unknown is an error with the nearest one.
func Resolve(name, device string) (string, error) {
	info, err := find(name)
	if err != nil {
		return "", err
	}
	if info.Alias == nil {
		return name, nil
	}
	if target, ok := info.Alias[device]; ok {
		return target, nil
	}
	return "", fmt.Errorf("model %q stands for no model on device %q", name, device)
}

// Build makes a model with the options chosen, as text; those left out have their
// defaults. Errors name the option or the layer at fault.
func Build(name string, options map[string]string) (*Graph, error) {
	info, err := find(name)
	if err != nil {
		return nil, err
	}
	if info.Alias != nil {
		return nil, fmt.Errorf("model %q is an alias; resolve it for a device first", name)
	}
	v, err := readOptions(name, info.Options, options)
	if err != nil {
		return nil, err
	}
	return info.build(name, v)
}

func find(name string) (Info, error) {
	var names []string
	for _, m := range Models() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Info{}, fmt.Errorf("unknown model %q; there are: %s%s",
		name, strings.Join(names, ", "), nearest.Question(name, names, ""))
}
