// Package failure tells what a failed trial means. All that it knows is one
// table: each row is a pattern of what was seen, what that means, and the
// public source that says so.
package failure

import (
	"regexp"

	"autotune/harness/protocol"
)

// Seen is what was seen of a failed trial or program; a field that was not seen is empty.
type Seen struct {
	Type   string // the exception's type, or one of the Type constants
	Phase  string // start, build, warmup, forward, backward, optimizer, step
	Text   string // original text, several lines allowed
	Signal string // that ended the process, such as SIGKILL
	// KernelKills is how many processes the kernel's out-of-memory killer ended
	// on this machine meanwhile; nil: not known.
	KernelKills *int64
}

// The types of failure that the harness itself sees, in Seen.Type.
const (
	TypeOverLimit   = "harness.over_limit"  // killed a quarter past the memory limit
	TypeDeadline    = "harness.deadline"    // killed at a deadline
	TypeInterrupted = "harness.interrupted" // stopped by the user
	TypeProtocol    = "harness.protocol"    // the worker broke the protocol
	TypeExit        = "harness.exit"        // the worker ended by itself
	TypeUnsupported = "harness.unsupported" // not run: the worker said at start that it cannot
)

// The types by which an engine says what a failure is, in Seen.Type.
const (
	TypeEngineUnsupported = protocol.TypeUnsupported // it cannot do at all what the trial asks
	TypeWrongBatch        = "wrong_batch"            // the batches had another size than the trial asks
	TypeUsage             = "usage"                  // what the user named cannot be found or used
)

// Meaning is what a failure means.
type Meaning string

// The meanings.
const (
	Memory      Meaning = "memory"       // there was not enough memory, of the device or the host
	MaybeMemory Meaning = "maybe memory" // often for want of memory, also for other reasons: believe it where a smaller size ran
	Deadline    Meaning = "deadline"     // it took too long
	Interrupted Meaning = "interrupted"  // somebody stopped it
	Unsupported Meaning = "unsupported"  // this engine or device cannot do it at all
	Protocol    Meaning = "protocol"     // what the worker said cannot be trusted
	Invalid     Meaning = "invalid"      // another batch size was seen than asked; the text has both
	Other       Meaning = "other"        // it failed, and memory is not why
)

// Row is one line of the table. A failure matches when every pattern that the row has matches.
type Row struct {
	Name   string
	Type   string         // equal to Seen.Type; empty: any
	Text   *regexp.Regexp // found in Seen.Text; nil: any
	Signal string         // equal to Seen.Signal; empty: any
	Kills  Kills          // empty: any
	Means  Meaning
	Fatal  bool   // the process can compute nothing more
	Says   string // one clause for the user
	Source string // the public page that the row rests on
}

// Kills is a pattern for Seen.KernelKills.
type Kills string

// The patterns.
const (
	KillsSome    Kills = "some"    // known, and above 0
	KillsUnknown Kills = "unknown" // not known
)

// matches says whether the pattern holds.
func (k Kills) matches(kills *int64) bool {
	switch k {
	case KillsSome:
		return kills != nil && *kills > 0
	case KillsUnknown:
		return kills == nil
	}
	return true
}

// matches says whether every pattern of the row holds.
func (r Row) matches(s Seen) bool {
	return (r.Type == "" || r.Type == s.Type) &&
		(r.Text == nil || r.Text.MatchString(s.Text)) &&
		(r.Signal == "" || r.Signal == s.Signal) &&
		r.Kills.matches(s.KernelKills)
}

// Explain is the first row of the table that matches; the last row matches everything.
func Explain(s Seen) Row {
	for _, row := range table {
		if row.matches(s) {
			return row
		}
	}
	return table[len(table)-1]
}

// Table is a copy of the table, in the order in which rows are tried.
func Table() []Row { return append([]Row(nil), table...) }
