package simulated

import (
	"fmt"
	"math"
	"os"
	"time"

	"autotune/harness/protocol"
)

// misbehaviour is something that a broken worker does in the step that it is
// about to report. It may change the step, and says whether the trial goes on.
type misbehaviour struct {
	name string
	do   func(s *protocol.Step) (goOn bool)
}

// table holds what the option "misbehave" can ask for, for tests of whoever runs workers.
var table = []misbehaviour{
	{"hang", func(*protocol.Step) bool {
		for {
			time.Sleep(time.Hour)
		}
	}},
	{"exit", func(*protocol.Step) bool {
		fmt.Fprintln(os.Stderr, "simulated: exit, as asked by the option misbehave")
		os.Exit(3)
		return false
	}},
	{"kill", func(*protocol.Step) bool {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill() // as the kernel does when memory is short
		}
		return false
	}},
	{"panic", func(*protocol.Step) bool { panic("simulated: panic, as asked by the option misbehave") }},
	{"short", func(s *protocol.Step) bool { return s.Warmup }},
	{"samples", func(s *protocol.Step) bool { s.Samples--; return true }},
	{"nan", func(s *protocol.Step) bool { s.Loss = protocol.Finite(math.NaN()); return true }},
}

func misbehaviours() []string {
	var names []string
	for _, m := range table {
		names = append(names, m.name)
	}
	return names
}

// misbehaveIn does what the settings ask for in the step, at the size.
func (s settings) misbehaveIn(step *protocol.Step, size int) (goOn bool) {
	if s.misbehaveAt != 0 && s.misbehaveAt != size {
		return true
	}
	for _, m := range table {
		if m.name == s.misbehave {
			return m.do(step)
		}
	}
	return true
}
