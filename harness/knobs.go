package harness

import (
	"slices"
	"strings"

	"autotune/tuner"
)

// knobOn is the value of a knob that is named without one; knobOff is the choice without the knob.
const (
	knobOn  = "on"
	knobOff = "off"
)

// knob is one knob of the settings with the choices to try, in their order.
type knob struct {
	name    string
	choices []string
}

// resolveKnobs checks the knobs against those that the engine has.
func resolveKnobs(h *Header, w Workload) error {
	for _, text := range h.Settings.Knobs {
		name, value, valued := strings.Cut(strings.TrimSpace(text), "=")
		switch {
		case len(w.Knobs) == 0:
			return usagef("--knobs %s: the engine %s has no knobs: leave --knobs out%s", text, w.Engine, w.elsewhere())
		case !slices.Contains(w.Knobs, name):
			return usagef("--knobs %s: the engine %s has no such knob; it has %s", text, w.Engine, strings.Join(w.Knobs, ", "))
		case valued && value == "":
			return usagef("--knobs %s: the value is missing: write %s (without and with it) or %s=%s", text, name, name, knobOn)
		case strings.ContainsAny(value, "=,"):
			return usagef("--knobs %s: a value has no comma and no equals sign; several names are joined by +", text)
		}
	}
	return nil
}

// knobsOf gathers the knobs as written by name, sorted: a bare NAME is a choice
// between without and with it, NAME=VALUE is that choice alone, and several of one name are all tried.
func knobsOf(written []string) []knob {
	var knobs []knob
	for _, text := range written {
		name, value, valued := strings.Cut(strings.TrimSpace(text), "=")
		choices := []string{value}
		if !valued {
			choices = []string{knobOff, knobOn}
		}
		i := slices.IndexFunc(knobs, func(k knob) bool { return k.name == name })
		if i < 0 {
			i = len(knobs)
			knobs = append(knobs, knob{name: name})
		}
		for _, choice := range choices {
			if !slices.Contains(knobs[i].choices, choice) {
				knobs[i].choices = append(knobs[i].choices, choice)
			}
		}
	}
	slices.SortFunc(knobs, func(a, b knob) int { return strings.Compare(a.name, b.name) })
	return knobs
}

// setsOf is every precision with every combination of the knobs' choices.
func setsOf(s Settings) []tuner.Set {
	combinations := []string{""}
	for _, k := range knobsOf(s.Knobs) {
		var longer []string
		for _, c := range combinations {
			for _, choice := range k.choices {
				longer = append(longer, withKnob(c, k.name, choice))
			}
		}
		combinations = longer
	}
	var sets []tuner.Set
	for _, precision := range s.Precision {
		for _, c := range combinations {
			sets = append(sets, tuner.Set{Precision: precision, Knobs: c})
		}
	}
	return sets
}

// withKnob adds a knob's choice to a text as Config.Knobs has it; off adds nothing.
func withKnob(knobs, name, choice string) string {
	switch {
	case choice == knobOff:
		return knobs
	case knobs == "":
		return name + "=" + choice
	}
	return knobs + "," + name + "=" + choice
}
