package model

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"autotune/workloads/nearest"
)

// Option is a choice that a model leaves open: a whole number from 1 to Max.
type Option struct {
	Name    string
	Default int
	// Max keeps every figure of the graph within 64 bits; no machine trains so much.
	Max     int
	Summary string
}

// values are a model's options with what was chosen for them.
type values map[string]int

// readOptions checks what was chosen, as text, against what the model knows.
func readOptions(model string, known []Option, chosen map[string]string) (values, error) {
	v := values{}
	largest := values{}
	for _, o := range known {
		v[o.Name], largest[o.Name] = o.Default, o.Max
	}
	for _, name := range sortedKeys(chosen) {
		if _, ok := v[name]; !ok {
			return nil, unknownOption(model, known, name)
		}
		n, err := strconv.Atoi(chosen[name])
		if err != nil || n < 1 || n > largest[name] {
			return nil, fmt.Errorf("model %q: option %q is %q; give a whole number from 1 to %d", model, name, chosen[name], largest[name])
		}
		v[name] = n
	}
	return v, nil
}

func unknownOption(model string, known []Option, name string) error {
	if len(known) == 0 {
		return fmt.Errorf("model %q has no options, and so no %q", model, name)
	}
	var names []string
	for _, o := range known {
		names = append(names, o.Name)
	}
	return fmt.Errorf("model %q has no option %q; it has: %s%s",
		model, name, strings.Join(names, ", "), nearest.Question(name, names, ""))
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
