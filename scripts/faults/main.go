//go:build linux

// Faults runs searches whose worker, disk or tuner misbehaves on order, in real
// processes, and holds what always has to hold: docs/reliability.md says what,
// and has the table that this makes.
//
//	go run ./scripts/faults              50 moments of each kind, in under an hour
//	go run ./scripts/faults --write      and puts the table into docs/reliability.md
//	go run ./scripts/faults --only SIGSEGV --seed 7 --moments 1
//
// The path of one moment: a kind (kinds.go) and a seed give a place (moments.go);
// a process of this program makes the run (tuner.go, driven by drive.go) whose
// workers are processes of this program too (engine.go, effects.go); then the run
// is judged from outside (check.go).
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"autotune/scripts/marked"
)

// A process of this program that is no driver finds its part and its order in the environment.
const (
	roleVariable  = "AUTOTUNE_FAULT_ROLE" // worker, tuner
	orderVariable = "AUTOTUNE_FAULT_ORDER"
	markVariable  = "AUTOTUNE_FAULT_RUN" // the run that a process belongs to
)

// play plays the part that the environment gives; false: this is the driver.
func play() (code int, played bool) {
	order := []byte(os.Getenv(orderVariable))
	switch os.Getenv(roleVariable) {
	case "worker":
		var f fault
		if err := json.Unmarshal(order, &f); err != nil {
			panic(err)
		}
		return workerMain(f), true
	case "tuner":
		var j job
		if err := json.Unmarshal(order, &j); err != nil {
			panic(err)
		}
		return tunerMain(j), true
	}
	return 0, false
}

func main() {
	if code, played := play(); played {
		os.Exit(code)
	}
	o := options{limits: limits{deadline: 1, grace: 15 * time.Second, memory: 128 * mib}, say: func(line string) { fmt.Fprintln(os.Stderr, line) }}
	flag.IntVar(&o.moments, "moments", 50, "`N` moments of each kind that has some")
	flag.Uint64Var(&o.seed, "seed", 1, "`N` of the first moment; the next has the next")
	flag.IntVar(&o.parallel, "parallel", 4, "`N` runs at a time")
	flag.StringVar(&o.only, "only", "", "`KIND` alone, by its name")
	write := flag.Bool("write", false, "put the table into docs/reliability.md")
	flag.Parse()
	outcomes, err := run(o)
	if err == nil {
		table := tableOf(outcomes, o)
		fmt.Print(table)
		if *write {
			err = marked.Put("docs/reliability.md", "faults", table)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
	}
	if err != nil || report(outcomes) > 0 {
		os.Exit(1)
	}
}

// options say what is run.
type options struct {
	moments, parallel int
	seed              uint64
	only              string
	tests             bool // kinds that are pending are left out
	limits            limits
	say               func(string) // progress
}

// task is a moment that is to be run.
type task struct {
	kind  *kind
	phase string
	seed  uint64
}

// tasks are the moments of all kinds, the phases of each by turns. Those of kinds that disturb others come first.
func (o options) tasks() (alone, beside []task, err error) {
	known := false
	for i := range kinds {
		k := &kinds[i]
		if o.only != "" && k.name != o.only || o.tests && k.pending {
			continue
		}
		known = true
		n := o.moments
		if k.once {
			n = 1
		}
		for m := range n {
			t := task{kind: k, seed: o.seed + uint64(m)}
			if len(k.phases) > 0 {
				t.phase = k.phases[t.seed%uint64(len(k.phases))]
			}
			if k.alone {
				alone = append(alone, t)
			} else {
				beside = append(beside, t)
			}
		}
	}
	if !known {
		return nil, nil, fmt.Errorf("--only %s: there is no such kind; they are %s", o.only, strings.Join(names(), ", "))
	}
	return alone, beside, nil
}

// names are those of all kinds.
func names() []string {
	var all []string
	for _, k := range kinds {
		all = append(all, k.name)
	}
	return all
}

// run runs all that the options ask for.
func run(o options) ([]outcome, error) {
	alone, beside, err := o.tasks()
	if err != nil {
		return nil, err
	}
	u, err := count(o.limits)
	if err != nil {
		return nil, err
	}
	refused := mountsRefused()
	p := &progress{all: len(alone) + len(beside), begun: time.Now(), say: o.say}
	one := func(t task) {
		if t.kind.mount != "" && refused != "" {
			p.ended(outcome{kind: t.kind, seed: t.seed, notRun: refused})
			return
		}
		p.ended(runMoment(t.kind, t.phase, t.seed, u, o.limits))
	}
	for _, t := range alone {
		one(t)
	}
	queue := make(chan task)
	var working sync.WaitGroup
	for range o.parallel {
		working.Go(func() {
			for t := range queue {
				one(t)
			}
		})
	}
	for _, t := range beside {
		queue <- t
	}
	close(queue)
	working.Wait()
	slices.SortStableFunc(p.outcomes, func(a, b outcome) int { return int(int64(a.seed) - int64(b.seed)) })
	return p.outcomes, nil
}

// progress keeps the outcomes and says how far it is.
type progress struct {
	mu       sync.Mutex
	all      int
	begun    time.Time
	said     time.Time
	outcomes []outcome
	say      func(string)
}

// ended takes an outcome.
func (p *progress) ended(o outcome) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.outcomes = append(p.outcomes, o)
	for _, problem := range o.problems {
		p.say(fmt.Sprintf("%s, seed %d: %s (%s)", o.kind.name, o.seed, problem, o.folder))
	}
	if n := len(p.outcomes); time.Since(p.said) > 10*time.Second || n == p.all {
		p.said = time.Now()
		left := time.Since(p.begun) / time.Duration(n) * time.Duration(p.all-n)
		p.say(fmt.Sprintf("%d of %d moments, about %v left", n, p.all, left.Round(time.Second)))
	}
}

// report prints what did not hold, and how to run it again; it gives how many.
func report(outcomes []outcome) int {
	failed := 0
	for _, o := range outcomes {
		if len(o.problems) == 0 {
			continue
		}
		failed++
		fmt.Printf("\n%s, seed %d did not hold; its files are in %s; again: go run ./scripts/faults --only %q --seed %d --moments 1\n",
			o.kind.name, o.seed, o.folder, o.kind.name, o.seed)
		for _, problem := range o.problems {
			fmt.Println("  " + problem)
		}
	}
	return failed
}
