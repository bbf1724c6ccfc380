// Package nearest finds what a person meant by a name that does not exist.
package nearest

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Name is the candidate with the fewest edits (Levenshtein distance, upper and
// lower case alike) from what was written, the first where several have; empty
// where none is within a third of the written letters, or within two.
func Name(written string, candidates []string) string {
	best, least := "", max(2, len(written)/3)+1
	for _, c := range candidates {
		if d := levenshtein.ComputeDistance(strings.ToLower(written), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// Question asks for the nearest candidate with prefix before it, such as
// `; did you mean --batch?`; empty where none is near.
func Question(written string, candidates []string, prefix string) string {
	best := Name(written, candidates)
	if best == "" {
		return ""
	}
	return "; did you mean " + prefix + best + "?"
}
