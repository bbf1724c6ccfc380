package marked_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"autotune/scripts/marked"
)

func TestPut(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.md")
	for _, c := range []struct{ before, after, fails string }{
		{"above\n<!-- x -->\nold\n<!-- end of x -->\nbelow\n", "above\n<!-- x -->\n\nnew\n\n<!-- end of x -->\nbelow\n", ""},
		{"<!-- x -->\n<!-- end of x -->\n", "<!-- x -->\n\nnew\n\n<!-- end of x -->\n", ""},
		{"above\n<!-- x -->\n", "above\n<!-- x -->\n", "<!-- end of x -->"},
		{"<!-- y -->\n<!-- end of y -->\n", "<!-- y -->\n<!-- end of y -->\n", "<!-- x -->"},
	} {
		if err := os.WriteFile(file, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		err := marked.Put(file, "x", "\nnew\n")
		if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
			t.Errorf("%q: %v", c.before, err)
		}
		if got, err := os.ReadFile(file); err != nil || string(got) != c.after {
			t.Errorf("%q became %q (%v)", c.before, got, err)
		}
	}
	if err := marked.Put(filepath.Join(t.TempDir(), "none.md"), "x", "new"); err == nil {
		t.Error("a file that is not there")
	}
}
