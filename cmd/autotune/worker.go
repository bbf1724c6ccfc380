package main

import (
	"os"

	"github.com/spf13/cobra"

	"autotune/workloads"
)

// The descriptors that a worker inherits (docs/protocol.md).
const (
	workerReads  = 3
	workerWrites = 4
)

// workerCommand is what the harness starts: it trains, and speaks the worker's protocol.
func workerCommand() *cobra.Command {
	var engine string
	cmd := &cobra.Command{
		Use:    workloads.WorkerCommand,
		Short:  "Run trials for a harness that started this process",
		Hidden: true,
		Args:   noArguments,
		RunE: func(*cobra.Command, []string) error {
			in, out := os.NewFile(workerReads, "trials"), os.NewFile(workerWrites, "results")
			if !isPipe(in) || !isPipe(out) {
				return usagef("a worker is started by autotune itself, with pipes as descriptors %d and %d; try autotune --help", workerReads, workerWrites)
			}
			return workloads.Serve(engine, in, out)
		},
	}
	cmd.Flags().StringVar(&engine, "engine", "", "`NAME` of what runs the steps")
	return cmd
}

// isPipe says whether the file is open and a pipe.
func isPipe(f *os.File) bool {
	if f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}
