//go:build unix

package harness_test

import (
	"fmt"
	"strings"
	"testing"

	"autotune/harness"
)

func TestPlanKnobs(t *testing.T) {
	w := workload()
	w.Knobs = []string{"checkpointing", "compile"}
	for _, c := range []struct {
		knobs []string
		want  string // sets of fp32
	}{
		{nil, "[fp32]"},
		{[]string{"checkpointing"}, "[fp32 fp32 [checkpointing=on]]"},
		{[]string{"checkpointing=on"}, "[fp32 [checkpointing=on]]"},
		{[]string{"checkpointing=layer1+layer2"}, "[fp32 [checkpointing=layer1+layer2]]"},
		{[]string{"checkpointing", "checkpointing=layer1"}, "[fp32 fp32 [checkpointing=on] fp32 [checkpointing=layer1]]"},
		{[]string{"checkpointing", "checkpointing"}, "[fp32 fp32 [checkpointing=on]]"},
		{[]string{"checkpointing=off"}, "[fp32]"},
		{[]string{"compile", "checkpointing"}, "[fp32 fp32 [compile=on] fp32 [checkpointing=on] fp32 [checkpointing=on,compile=on]]"},
		{[]string{"compile=on", " checkpointing=on "}, "[fp32 [checkpointing=on,compile=on]]"},
	} {
		p := plan(t, settings(func(s *harness.Settings) { s.Knobs = c.knobs }), w)
		if got := fmt.Sprint(p.Space.Sets); got != c.want {
			t.Errorf("%q: %s, want %s", c.knobs, got, c.want)
		}
		p = plan(t, settings(func(s *harness.Settings) {
			s.Command, s.Batch, s.Knobs, s.Precision = harness.CommandBench, "4", c.knobs, []string{"fp32", "fp64"}
		}), w)
		if got, want := len(p.Configs), 2*(strings.Count(c.want, "fp32")); got != want || p.Configs[got-1].Precision != "fp64" {
			t.Errorf("bench %q: %v, want %d configurations", c.knobs, p.Configs, want)
		}
	}
}

func TestPlanKnobErrors(t *testing.T) {
	for _, c := range []struct {
		has  []string
		knob string
		want []string
	}{
		{[]string{"checkpointing", "compile"}, "checkpoint", []string{"--knobs checkpoint", "engine fake", "checkpointing, compile"}},
		{[]string{"compile"}, "checkpointing=on", []string{"--knobs checkpointing=on", "it has compile"}},
		{nil, "compile", []string{"has no knobs", "leave --knobs out"}},
		{[]string{"compile"}, "compile=", []string{"--knobs compile=", "compile=on"}},
		{[]string{"compile"}, "compile=a=b", []string{"--knobs compile=a=b", "no equals sign"}},
		{[]string{"compile"}, "", []string{"it has compile"}},
	} {
		w := workload()
		w.Knobs = c.has
		_, err := harness.NewPlan(settings(func(s *harness.Settings) { s.Knobs = []string{c.knob} }), w, environment())
		if exitCode(err) != harness.ExitUsage {
			t.Errorf("%q: error %v", c.knob, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %q does not say %q", c.knob, err, want)
			}
		}
	}
}
