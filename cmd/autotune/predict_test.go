package main

import (
	"slices"
	"testing"

	"autotune/harness/protocol"
	"autotune/tuner"
)

func TestLargest(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []protocol.Line
		bytes int64
		want  int64
	}{
		{"one line", []protocol.Line{{Fixed: 100, PerSample: 10}}, 149, 4},
		{"just", []protocol.Line{{Fixed: 100, PerSample: 10}}, 150, 5},
		{"the highest line decides", []protocol.Line{{Fixed: 100, PerSample: 10}, {Fixed: 0, PerSample: 30}}, 240, 8},
		{"none", []protocol.Line{{Fixed: 100, PerSample: 10}}, 109, 0},
		{"less than nothing", []protocol.Line{{Fixed: 100, PerSample: 10}}, 10, 0},
		{"a level line above", []protocol.Line{{Fixed: 100}, {Fixed: 0, PerSample: 1}}, 99, 0},
		{"a level line below", []protocol.Line{{Fixed: 100}, {Fixed: 0, PerSample: 1}}, 120, 120},
	} {
		if got := largest(c.lines, c.bytes); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestGroups(t *testing.T) {
	config := func(batch, accumulation int, precision string) tuner.Config {
		return tuner.Config{MicroBatch: batch, Accumulation: accumulation, Precision: precision}
	}
	got := groups([]tuner.Config{config(8, 1, "fp32"), config(16, 1, "fp32"), config(8, 2, "fp32"), config(8, 1, "bf16"), config(16, 2, "fp32")})
	want := [][]tuner.Config{
		{config(8, 1, "fp32"), config(16, 1, "fp32")},
		{config(8, 2, "fp32"), config(16, 2, "fp32")},
		{config(8, 1, "bf16")},
	}
	if !slices.EqualFunc(got, want, slices.Equal[[]tuner.Config]) {
		t.Errorf("got %v, want %v", got, want)
	}
}
