package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"autotune/harness"
	"autotune/tuner"
	"autotune/workloads"
	"autotune/workloads/pytorch"
)

// defaultSettings are the settings that a command begins with.
func defaultSettings(command string) harness.Settings {
	s := harness.Settings{
		Command:      command,
		Engine:       workloads.Auto,
		Precision:    []string{"fp32"},
		TrialTimeout: harness.DefaultTrialTimeout,
		Seed:         1,
	}
	if command == harness.CommandTune {
		s.Objective = string(tuner.Throughput)
		s.Soak = 5
		s.TargetError = harness.DefaultTargetError
	} else {
		s.Repeat = harness.DefaultRepeat
	}
	return s
}

// addTrainingFlags adds the flags that say what is trained, with what, and how.
func addTrainingFlags(f *pflag.FlagSet, s *harness.Settings) {
	addModelFlags(f, s)
	f.Var(text{value: &s.Engine}, "engine", "`NAME` of what runs the steps: "+strings.Join(workloads.EngineNames(), ", "))
	addDeviceFlags(f, s)
	f.Var(names{&s.Precision, oneOf(harness.Precisions()...)}, "precision", "`LIST` of precisions: "+strings.Join(harness.Precisions(), ", "))
	addKnobFlag(f, s)
	f.Var(text{&s.Batch, checkSizes}, "batch", "micro-batch `SIZES`: a range 1..4096, a list 8,16,32, multiples 8..512:8, powers 1..1024:x2 (a search's default: 1 to the global batch)")
	addAccumulationFlag(f, s)
	f.Var(text{&s.GlobalBatch, checkGlobalBatch}, "global-batch", "samples per optimizer step, `N` or any (a search's default: the model's recipe)")
	addOptimizerFlag(f, s)
	f.Var(text{&s.MemoryLimit, checkLimit}, "memory-limit", "`SIZE` such as 2GiB, a share of what is available such as 90%, or none (default the smaller of 2GiB and 50%)")
	f.Var(seconds{&s.TrialTimeout, true}, "trial-timeout", "`DURATION` after which a trial is stopped, start-up not counted")
	addSeedFlag(f, s)
}

// addModelFlags adds the flags that name a model.
func addModelFlags(f *pflag.FlagSet, s *harness.Settings) {
	f.Var(text{value: &s.Model}, "model", "`NAME` of what is trained (autotune models lists them)")
	f.Var(options{&s.Set}, "set", "a model's option as `KEY=VALUE`; can be given again")
	f.Var(text{&s.Input, checkShape}, "input", "`SHAPE` of one sample, such as 3,224,224, for a model of PyTorch (default by inspection)")
	f.Var(count{&s.Classes, 1}, "classes", "`N` classes of a model of PyTorch (default by inspection)")
}

// addDeviceFlags adds the flags that say where PyTorch is found and what it trains on.
func addDeviceFlags(f *pflag.FlagSet, s *harness.Settings) {
	addPythonFlag(f, &s.Python)
	f.Var(text{value: &s.Device}, "device", "`DEVICE` to train on: cpu, cuda or cuda:N (default cuda where PyTorch can use it, else cpu)")
}

func addPythonFlag(f *pflag.FlagSet, python *string) {
	f.Var(text{value: python}, "python", "`FILE` of the Python interpreter with PyTorch (default the active virtual environment's, else python3)")
}

func addKnobFlag(f *pflag.FlagSet, s *harness.Settings) {
	f.Var(names{&s.Knobs, checkKnob}, "knobs", "`LIST` of knobs of PyTorch to try, each NAME (without and with it) or NAME=VALUE: "+strings.Join(pytorch.Knobs(), ", "))
}

func addAccumulationFlag(f *pflag.FlagSet, s *harness.Settings) {
	f.Var(sizes{&s.Accumulation, tuner.ParseSizes}, "accumulation", "accumulation steps as `SIZES`: 1,2,4 (default what the global batch asks for, else 1)")
}

func addOptimizerFlag(f *pflag.FlagSet, s *harness.Settings) {
	f.Var(text{&s.Optimizer, oneOf(harness.Optimizers()...)}, "optimizer", "`NAME`: "+strings.Join(harness.Optimizers(), ", ")+" (default the model's recipe)")
}

func addSeedFlag(f *pflag.FlagSet, s *harness.Settings) {
	f.Var(seed{&s.Seed}, "seed", "`N` that weights and data are made from")
}

// addSearchFlags adds the flags that only a search has.
func addSearchFlags(f *pflag.FlagSet, s *harness.Settings) {
	f.Var(text{&s.Objective, oneOf(harness.Objectives()...)}, "objective", "`NAME` of what is best: "+strings.Join(harness.Objectives(), ", "))
	f.Var(text{&s.Headroom, checkHeadroom}, "headroom", "`SIZE` or share of the limit that the recommendation must leave, such as 64MiB or 10%; without it, by how much peaks were seen to differ")
	f.Var(percentage{&s.TargetError}, "target-error", "`PERCENT` that throughputs of finalists may be off: they run in turn until half their 95% interval is within it; 0%: no finals")
	f.Var(count{&s.MaxTrials, 0}, "max-trials", "`N` trials at most, the soak not counted; 0: no bound")
	f.Var(seconds{value: &s.MaxTime}, "max-time", "`DURATION` of the search, resumed time included, after which no trial begins; the soak comes on top; 0: no bound")
	f.Var(seconds{value: &s.Soak}, "soak", "least `DURATION` of the last, proving run of the winner; 0: none")
}

// outputFlags say where results go and how much is said meanwhile.
type outputFlags struct {
	json, quiet, verbose bool
}

func (o *outputFlags) add(f *pflag.FlagSet) {
	o.addJSON(f)
	o.addQuiet(f)
	f.BoolVar(&o.verbose, "verbose", false, "a line for every trial with its raw figures on stderr")
}

func (o *outputFlags) addJSON(f *pflag.FlagSet) { f.BoolVar(&o.json, "json", false, jsonUsage) }

func (o *outputFlags) addQuiet(f *pflag.FlagSet) {
	f.BoolVar(&o.quiet, "quiet", false, "say nothing on stderr but errors")
}

const jsonUsage = "print the result as JSON on stdout, and nothing else there"

// check refuses contradicting flags.
func (o *outputFlags) check() error {
	if o.quiet && o.verbose {
		return usagef("--quiet and --verbose contradict each other; give one of them")
	}
	return nil
}

// addRunFlags adds the flags of commands that begin a run: where it goes, and
// the file that settings are read from.
func addRunFlags(f *pflag.FlagSet, out, config *string) {
	f.Var(text{value: out}, "out", "`FOLDER` for the run's files (default "+runsFolder+"/MODEL-UTCTIME)")
	f.Var(text{value: config}, "config", "`FILE` in YAML with the same names as the flags; a flag wins")
}

// The checks of texts that harness.NewPlan resolves.

func checkSizes(s string) error {
	_, err := tuner.ParseSizes(s)
	return err
}

func checkLimit(s string) error {
	_, err := harness.ParseLimit(s)
	return err
}

func checkHeadroom(s string) error {
	if s == "0" || s == "0%" {
		return nil
	}
	return checkLimit(s)
}

func checkGlobalBatch(s string) error {
	if n, err := strconv.Atoi(s); s == "any" || err == nil && n >= 1 {
		return nil
	}
	return errors.New("neither a number of samples from 1 on nor any")
}

func checkShape(s string) error {
	_, err := workloads.ParseShape(s)
	return err
}

// checkKnob refuses what is no knob; whether the engine has it is seen when the engine is known.
func checkKnob(s string) error {
	name, value, given := strings.Cut(s, "=")
	if given && value == "" {
		return errors.New("a knob without its value; write NAME, or NAME=VALUE such as checkpointing=on")
	}
	return oneOf(pytorch.Knobs()...)(name)
}
