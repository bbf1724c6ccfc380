package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"autotune/harness"
)

// tableFile holds the table.
const tableFile = "docs/search.md"

// lightningShare is the part of Lightning's seconds that ours may take, accelerate's from 1024 apart.
const lightningShare = 1.0 / 3

// writeTable writes where and with what the table was made, and a row for each finder and subject.
func writeTable(w *bytes.Buffer, t tools, results []result) error {
	versions, err := exec.Command(t.python, "-c", `import importlib.metadata as m, platform
print("Python", platform.python_version(), *(", " + p + " " + m.version(p) for p in ("torch", "torchvision", "pytorch-lightning", "accelerate")), sep=" ")`).Output()
	if err != nil {
		return fmt.Errorf("the versions: %w", err)
	}
	env := harness.ReadEnvironment()
	cpu := "an unnamed CPU"
	if env.CPUModel != nil {
		cpu = *env.CPUModel
	}
	fmt.Fprintf(w, "\nMade by `go run ./scripts/rivals` on %s with %s, %s/%s, on %d cores of %s; limit %d bytes.\n",
		time.Now().UTC().Format(time.DateOnly), strings.ReplaceAll(strings.TrimSpace(string(versions)), " ,", ","), env.OS, env.Arch, env.Cores, cpu, limitBytes)
	fmt.Fprint(w, `
| model | finder | size found | true size | trials | failed | seconds from ready to the answer | seconds in all | goal |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
`)
	for _, r := range results {
		for _, f := range r.finds {
			inAll, goal := fmt.Sprintf("%.1f", f.InAll), ""
			if f.finder == ours {
				inAll = fmt.Sprintf("%.1f, %.1f of them the soak", f.InAll, f.Soak)
				goal = r.goal(f)
			}
			fmt.Fprintf(w, "| %s | %s | %d | %d | %d | %d | %.1f | %s | %s |\n",
				r.subject.title, f.finder, f.Size, r.truth, f.Trials, f.Failures, f.Seconds, inAll, goal)
		}
	}
	fmt.Fprintln(w)
	return nil
}

// goal says whether ours reached its goal beside the others, and in what it missed it.
func (r result) goal(f find) string {
	var missed []string
	if f.Size != r.truth {
		missed = append(missed, "not the true size")
	}
	if !f.BothSides {
		missed = append(missed, "not proven from both sides")
	}
	for _, bound := range []struct {
		finder string
		part   float64
		text   string
	}{
		{lightning, lightningShare, "more than a third of the seconds of " + lightning},
		{lightningExact, lightningShare, "more than a third of the seconds of " + lightningExact},
		{accelerateHigh, 1, "more seconds than " + accelerateHigh},
	} {
		at := slices.IndexFunc(r.finds, func(other find) bool { return other.finder == bound.finder })
		switch {
		case at < 0:
			missed = append(missed, "not run beside "+bound.finder)
		case f.Seconds > bound.part*r.finds[at].Seconds:
			missed = append(missed, bound.text)
		}
	}
	if len(missed) > 0 {
		return "**missed**: " + strings.Join(missed, "; ")
	}
	return "met"
}
