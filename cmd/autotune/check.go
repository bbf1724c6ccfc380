package main

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"autotune/harness"
	"autotune/reports"
)

const checkHelp = `check holds a run against a stored one: throughput and peak memory of every
configuration that both have. It exits with 1 when a change is worse than its
threshold and significant, or when a configuration ran before and does not run
now; with 2 when hardware or settings differ; else with 0.

What is compared are repeats, each in a fresh process, never steps: both runs
should come from autotune bench. With fewer than four repeats no change is
significant.`

const checkExamples = `  autotune check after --baseline before
  autotune check after --baseline before --fail-on throughput:3%,memory:1%
  autotune check after --baseline before --fail-on memory:5% --json`

// checkCommand is the gate.
func checkCommand(s streams) *cobra.Command {
	var baseline string
	var asJSON bool
	o := reports.CheckOptions{Thresholds: reports.DefaultThresholds()}
	failOn := thresholds{text: "throughput:5%,memory:5%", value: &o.Thresholds}
	cmd := &cobra.Command{
		Use:     "check RUN --baseline RUN",
		Short:   "Exit 1 on a regression of speed or memory",
		Long:    checkHelp,
		Example: checkExamples,
		Args:    exactlyOneRun,
		RunE: func(_ *cobra.Command, args []string) error {
			return check(s, args[0], baseline, asJSON, o)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Var(text{value: &baseline}, "baseline", "`RUN` to hold against: a run's folder or its run.jsonl")
	f.Var(&failOn, "fail-on", "`LIST` of how much worse is allowed; a metric left out is not looked at")
	f.BoolVar(&o.AllowDifferent, "allow-different", false, "compare runs of other hardware or settings all the same")
	f.BoolVar(&asJSON, "json", false, jsonUsage)
	return cmd
}

func check(s streams, path, baselinePath string, asJSON bool, o reports.CheckOptions) error {
	if baselinePath == "" {
		return usagef("no baseline is named; give a stored run, such as --baseline before")
	}
	baseline, err := harness.ReadRun(baselinePath)
	if err != nil {
		return fmt.Errorf("--baseline: %w", err)
	}
	run, err := harness.ReadRun(path)
	if err != nil {
		return err
	}
	comparison, err := reports.Check(baseline, run, o)
	if err != nil {
		return err
	}
	if err := writeComparison(s, comparison, asJSON); err != nil {
		return err
	}
	if comparison.Regressed {
		return &failure{code: exitRegression}
	}
	return nil
}

func writeComparison(s streams, c reports.Comparison, asJSON bool) error {
	if !asJSON {
		return c.WriteText(s.out)
	}
	data, err := c.JSON()
	if err != nil {
		return err
	}
	_, err = s.out.Write(data)
	return err
}

// exactlyOneRun asks for the one run that is checked.
func exactlyOneRun(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef("%d runs given, check takes one beside the baseline: autotune check RUN --baseline RUN", len(args))
	}
	return nil
}

// thresholds is the flag's value for reports.Thresholds, as it was written.
type thresholds struct {
	text  string
	value *reports.Thresholds
}

var _ pflag.Value = (*thresholds)(nil)

// Type is the name of the kind of value.
func (t *thresholds) Type() string { return "thresholds" }

// String is the value as a flag has it.
func (t *thresholds) String() string { return t.text }

// Set reads the value.
func (t *thresholds) Set(s string) error {
	value, err := reports.ParseThresholds(s)
	if err != nil {
		return err
	}
	t.text, *t.value = s, value
	return nil
}
