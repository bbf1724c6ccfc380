package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// find is what a finder came to.
type find struct {
	finder   string
	Size     int     `json:"found"` // 0: none
	Trials   int     `json:"trials"`
	Failures int     `json:"failures"`
	Seconds  float64 `json:"seconds"` // from ready (libraries imported) to the answer
	// InAll is from the start of the process to its end, in seconds; Soak is how much of it ours spent on the soak.
	InAll, Soak float64
	// BothSides says that the size above was run, too, and failed.
	BothSides bool
}

// The finders' names.
const (
	ours            = "autotune"
	lightning       = "Lightning binsearch"
	lightningExact  = "Lightning binsearch, margin 0"
	accelerateHigh  = "accelerate from 1024"
	accelerateUsual = "accelerate from 128 (default)"
)

// finder is one way to find the size of a subject.
type finder struct {
	name string
	run  func(tools, subject) (find, error)
}

var finders = []finder{
	{ours, runAutotune},
	{lightning, script("lightning_finder.py")},
	{lightningExact, script("lightning_finder.py", "0")},
	{accelerateHigh, script("accelerate_finder.py", "1024")},
	{accelerateUsual, script("accelerate_finder.py", "128")},
}

// result is all that was found of one subject.
type result struct {
	subject subject
	truth   int // true largest size
	finds   []find
}

// compare runs the finders that are chosen, one after the other, and then looks for the true size.
func compare(t tools, s subject, only string) (result, error) {
	r := result{subject: s}
	guess := 0
	for _, f := range finders {
		if !chosen(f.name, only) {
			continue
		}
		found, err := f.run(t, s)
		if err != nil {
			return r, fmt.Errorf("%s: %w", f.name, err)
		}
		found.finder = f.name
		fmt.Fprintf(os.Stderr, "%s, %s: %d by %d trials in %.1f s\n", s.name, f.name, found.Size, found.Trials, found.Seconds)
		r.finds = append(r.finds, found)
		guess = max(guess, found.Size)
	}
	var err error
	r.truth, err = trueSize(guess, func(size int) (bool, error) { return runs(t, s, size) })
	fmt.Fprintf(os.Stderr, "%s, true size: %d\n", s.name, r.truth)
	return r, err
}

// script is the finder in a script of this folder. It is given the subject's name and the arguments.
func script(name string, args ...string) func(tools, subject) (find, error) {
	return func(t tools, s subject) (find, error) {
		var f find
		begun := time.Now()
		err := t.script(&f, name, append([]string{s.name}, args...)...)
		f.InAll = time.Since(begun).Seconds()
		return f, err
	}
}

// script runs a script of this folder under the counter and reads the JSON on its last line.
func (t tools) script(into any, name string, args ...string) error {
	c := t.limited(t.python, append([]string{t.sources + "/" + name}, args...)...)
	out, err := c.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], into); err != nil {
		return fmt.Errorf("%s: its last line is no answer: %w: %s", name, err, lines[len(lines)-1])
	}
	return nil
}
