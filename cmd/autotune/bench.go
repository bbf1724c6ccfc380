package main

import (
	"github.com/spf13/cobra"

	"autotune/harness"
)

const benchHelp = `bench measures the given configurations, every precision with every micro-batch
and every number of accumulation steps, without a search. Each is run --repeat
times in a fresh worker process, the configurations taking turns, so that a
machine that changes its speed meanwhile changes all of them alike.

With --global-batch the accumulation steps are those that make it.

The run's folder has the results for benchstat (bench.txt), as CSV, as Markdown
and as JSON.`

const benchExamples = `  autotune bench --model mlp --batch 32,64,128 --out before
  autotune bench --model mlp --batch 8,16,32 --precision fp32,fp64 --accumulation 1,4
  autotune check after --baseline before`

// benchCommand measures.
func benchCommand(s streams) *cobra.Command {
	return trainingCommand(s, harness.CommandBench, harness.Bench, &cobra.Command{
		Use:     "bench --model NAME --batch SIZES",
		Short:   "Measure the given configurations, no search",
		Long:    benchHelp,
		Example: benchExamples,
	})
}
