// Package marked puts what a script measured into a document, between two marks:
// <!-- NAME --> and <!-- end of NAME -->, each on a line of its own.
package marked

import (
	"fmt"
	"os"
	"strings"
)

// Put replaces what stands between the marks of the name in the file, with an empty line on each
// side. It is an error, and the file stays, where a mark is not there.
func Put(file, name, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	above, rest, begins := strings.Cut(string(old), begin)
	_, below, ends := strings.Cut(rest, end)
	if !begins || !ends {
		return fmt.Errorf("%s has no lines %q and %q for what was measured", file, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(file, []byte(above+begin+"\n"+strings.Trim(text, "\n")+"\n\n"+end+below), 0o644)
}
