package simulated

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"autotune/workloads/nearest"
)

// Setting is an option of the model "simulated", as the worker protocol carries it.
type Setting struct {
	Name    string
	Default string
	Summary string

	set func(s *settings, text string) error
}

// settings are what a trial's options come to.
type settings struct {
	device      uint64
	options     Options
	pace        float64
	misbehave   string
	misbehaveAt int
}

// Settings are the options, in the order to list them.
func Settings() []Setting {
	return []Setting{
		{"device", "the seed of the run", "seed of the device",
			func(s *settings, text string) (err error) {
				s.device, err = strconv.ParseUint(text, 10, 64)
				return err
			}},
		{"fuzzy", "0", "relative spread of the peak from trial to trial, 0 to 0.5",
			func(s *settings, text string) (err error) {
				s.options.Fuzzy, err = strconv.ParseFloat(text, 64)
				return err
			}},
		{"failures", "0", "share of the trials that fail for another reason than memory, 0 to 1",
			func(s *settings, text string) (err error) {
				s.options.Failures, err = strconv.ParseFloat(text, 64)
				return err
			}},
		{"holes", "0", "share of the sizes that always fail for another reason than memory, 0 to 1",
			func(s *settings, text string) (err error) {
				s.options.Holes, err = strconv.ParseFloat(text, 64)
				return err
			}},
		{"pace", "0", "seconds that a step really takes per simulated second; 0: none",
			func(s *settings, text string) (err error) { s.pace, err = strconv.ParseFloat(text, 64); return err }},
		{"misbehave", "", "what a broken worker does, one of " + strings.Join(misbehaviours(), ", "),
			func(s *settings, text string) error { s.misbehave = text; return nil }},
		{"misbehave-at", "0", "the micro-batch at which it does that; 0: in every trial",
			func(s *settings, text string) (err error) { s.misbehaveAt, err = strconv.Atoi(text); return err }},
	}
}

// CheckOptions says whether a trial with the options can run: nil, or an error
// that names the option at fault and what to write instead.
func CheckOptions(options map[string]string) error {
	_, err := readSettings(options, 0)
	return err
}

// readSettings reads the options of a trial. The device's seed is that of the
// trial where the options have none.
func readSettings(options map[string]string, seed uint64) (settings, error) {
	s := settings{device: seed}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		known, err := findSetting(name)
		if err != nil {
			return settings{}, err
		}
		if err := known.set(&s, options[name]); err != nil {
			return settings{}, fmt.Errorf("model \"simulated\": option %q is %q: want a number: %s", name, options[name], known.Summary)
		}
	}
	return s, s.check()
}

func (s settings) check() error {
	switch {
	case !(s.pace >= 0 && s.pace <= maxPace):
		return fmt.Errorf("model \"simulated\": option \"pace\" is %v: want 0 to %v", s.pace, maxPace)
	case s.misbehave != "" && !slices.Contains(misbehaviours(), s.misbehave):
		return fmt.Errorf("model \"simulated\": option \"misbehave\" is %q; there are: %s%s",
			s.misbehave, strings.Join(misbehaviours(), ", "), nearest.Question(s.misbehave, misbehaviours(), ""))
	case s.misbehaveAt < 0:
		return fmt.Errorf("model \"simulated\": option \"misbehave-at\" is %d: want a micro-batch, or 0 for every trial", s.misbehaveAt)
	}
	return s.options.check()
}

// maxPace keeps a step's sleep within what a time.Duration holds.
const maxPace = 1e4

func findSetting(name string) (Setting, error) {
	var names []string
	for _, s := range Settings() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Setting{}, fmt.Errorf("model \"simulated\" has no option %q; it has: %s%s",
		name, strings.Join(names, ", "), nearest.Question(name, names, ""))
}
