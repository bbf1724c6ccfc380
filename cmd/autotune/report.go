package main

import "github.com/spf13/cobra"

const reportHelp = `report makes the page, the figures, the tables and recommended.json of a run again
from its journal alone, and prints the trials and the recommendation.

RUN is a run's folder or its run.jsonl; left out, it is the newest under autotune-runs.`

const reportExamples = `  autotune report
  autotune report autotune-runs/resnet20-20260102T150405Z
  autotune report results/run.jsonl --json`

// reportCommand makes every output again.
func reportCommand(s streams) *cobra.Command {
	output := &outputFlags{}
	cmd := &cobra.Command{
		Use:     "report [RUN]",
		Short:   "Make every output again from a run's journal",
		Long:    reportHelp,
		Example: reportExamples,
		Args:    oneRun,
		RunE: func(_ *cobra.Command, args []string) error {
			run, err := readRun(args)
			if err != nil {
				return err
			}
			return output.show(s, run)
		},
	}
	cmd.Flags().SortFlags = false
	output.addJSON(cmd.Flags())
	output.addQuiet(cmd.Flags())
	return cmd
}
