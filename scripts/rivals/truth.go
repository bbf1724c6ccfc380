package main

import (
	"fmt"
	"os"
)

const (
	// eachSide is how many sizes below the border and above it are run.
	eachSide = 3
	// farthest is by how many sizes the guess may be off.
	farthest = 100
)

// trueSize is the largest size that runs, looked for from a guess on. Every size from eachSide
// below it to eachSide above it is run; it is an error where what runs of them is not one range.
func trueSize(guess int, runs func(size int) (bool, error)) (int, error) {
	known := map[int]bool{}
	low := max(1, guess-eachSide)
	for low < guess+farthest && low > guess-farthest {
		ran := 0 // sizes from low on that ran
		for size := low; size <= low+2*eachSide; size++ {
			if _, seen := known[size]; !seen {
				ok, err := runs(size)
				if err != nil {
					return 0, fmt.Errorf("size %d: %w", size, err)
				}
				known[size] = ok
			}
			if !known[size] {
				continue
			}
			if ran < size-low {
				return 0, fmt.Errorf("there is no single border: size %d runs, size %d does not", size, low+ran)
			}
			ran++
		}
		if ran == eachSide+1 || low == 1 && ran <= eachSide {
			return low + ran - 1, nil
		}
		low = max(1, low+ran-eachSide-1)
	}
	return 0, fmt.Errorf("no border within %d sizes of %d", farthest, guess)
}

// runs says whether three steps at the size run, by a plain loop in a fresh process.
func runs(t tools, s subject, size int) (bool, error) {
	var a struct {
		Ran bool `json:"ran"`
	}
	err := t.script(&a, "plain.py", s.name, fmt.Sprint(size))
	fmt.Fprintf(os.Stderr, "%s, size %d runs: %t\n", s.name, size, a.Ran)
	return a.Ran, err
}
