package main

import (
	"github.com/spf13/cobra"

	"autotune/harness"
	"autotune/workloads"
)

const resumeHelp = `resume goes on with a run that was stopped, by Ctrl-C, a crash or a lost machine. The
settings are those in its journal. No finished trial is run again; one that was
interrupted is.

RUN is a run's folder or its run.jsonl; left out, it is the newest under autotune-runs.`

const resumeExamples = `  autotune resume
  autotune resume autotune-runs/resnet20-20260102T150405Z`

// resumeCommand goes on with a stopped run.
func resumeCommand(s streams) *cobra.Command {
	output := &outputFlags{}
	cmd := &cobra.Command{
		Use:     "resume [RUN]",
		Short:   "Go on with a stopped run",
		Long:    resumeHelp,
		Example: resumeExamples,
		Args:    oneRun,
		RunE: func(_ *cobra.Command, args []string) error {
			return resume(s, output, args)
		},
	}
	cmd.Flags().SortFlags = false
	output.add(cmd.Flags())
	return cmd
}

func resume(s streams, output *outputFlags, args []string) error {
	if err := output.check(); err != nil {
		return err
	}
	path, err := runPath(args)
	if err != nil {
		return err
	}
	run, err := harness.ReadRun(path)
	if err != nil {
		return err
	}
	workload, err := resolve(begun(run.Header))
	if err != nil {
		return err
	}
	return output.runAndShow(s, harness.Resume, harness.Options{Dir: path, Workload: workload})
}

// begun are a run's settings with the engine and the device that they came to, so that the
// same are taken again whatever this machine would choose now.
func begun(h harness.Header) harness.Settings {
	s := h.Settings
	s.Engine = h.Engine
	if h.Engine == workloads.PyTorch {
		s.Device = h.Device
	}
	return s
}
