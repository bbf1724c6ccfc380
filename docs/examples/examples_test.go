package examples_test

import (
	"os"
	"strings"
	"testing"
)

// TestPageShowsTheExample holds that docs/pytorch.md shows the whole of train.py as it is.
func TestPageShowsTheExample(t *testing.T) {
	page, err := os.ReadFile("../pytorch.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("train.py")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```python\n"+string(example)+"```\n") {
		t.Error("docs/pytorch.md does not show docs/examples/train.py as it is")
	}
}
