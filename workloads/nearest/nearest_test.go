package nearest_test

import (
	"testing"

	"autotune/workloads/nearest"
)

func TestName(t *testing.T) {
	candidates := []string{"batch", "global-batch", "memory-limit", "set"}
	for _, c := range []struct{ written, want string }{
		{"bacth", "batch"},
		{"BATCH", "batch"},
		{"globalbatch", "global-batch"},
		{"mem-limit", "memory-limit"},
		{"zebra-crossing", ""},
		{"", ""},
	} {
		if got := nearest.Name(c.written, candidates); got != c.want {
			t.Errorf("Name(%q) = %q, want %q", c.written, got, c.want)
		}
	}
}

func TestQuestion(t *testing.T) {
	if got := nearest.Question("bacth", []string{"batch"}, "--"); got != "; did you mean --batch?" {
		t.Errorf("near: %q", got)
	}
	if got := nearest.Question("zebra", []string{"batch"}, "--"); got != "" {
		t.Errorf("not near: %q", got)
	}
}
