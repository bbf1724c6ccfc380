package reports_test

import (
	"strings"
	"testing"

	"autotune/harness"
	"autotune/reports"
)

func TestPyTorchSnippet(t *testing.T) {
	var all strings.Builder
	for _, precision := range []string{"fp64", "fp32", "tf32", "bf16", "fp16"} {
		r := &harness.Recommendation{Precision: precision, MicroBatch: 32, Accumulation: 4, GlobalBatch: 128}
		all.WriteString("# " + precision + "\n" + reports.PyTorchSnippet(r) + "\n")
	}
	golden(t, "snippets.py", all.String())
}
