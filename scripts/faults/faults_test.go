//go:build linux

package main

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if code, played := play(); played {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// testLimits are bounds that hold on a slow machine and under the race detector too.
var testLimits = limits{deadline: 4, grace: 30 * time.Second, memory: 1 << 30}

// TestFaults runs two moments of each kind, one in short mode.
func TestFaults(t *testing.T) {
	o := options{moments: 2, parallel: 4, seed: 1, limits: testLimits, tests: true, say: func(line string) { t.Log(line) }}
	if testing.Short() {
		o.moments = 1
	}
	outcomes, err := run(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if len(o.problems) > 0 {
			t.Errorf("%s, seed %d, in %s: %s", o.kind.name, o.seed, o.folder, strings.Join(o.problems, "\n"))
		}
	}
	t.Log(tableOf(outcomes, o))
}

// TestAWrongAnswerIsSeen drives a run that does not hold: the checks have to see it.
func TestAWrongAnswerIsSeen(t *testing.T) {
	k := kind{name: "exit 3", phases: anywhere} // a kind that may hit no trial
	o := runMoment(&k, phaseBuild, 1, undisturbed{plain: trials{all: []int{1}}}, testLimits)
	defer func() { _ = os.RemoveAll(o.folder) }()
	if len(o.problems) != 1 || !strings.Contains(o.problems[0], "trial 1 of micro-batch 8 is crashed") {
		t.Errorf("problems %q", o.problems)
	}
}

// TestUnknownKind names the kinds that there are.
func TestUnknownKind(t *testing.T) {
	if _, err := run(options{only: "song"}); err == nil || !strings.Contains(err.Error(), "SIGSEGV") {
		t.Errorf("error %v", err)
	}
}
