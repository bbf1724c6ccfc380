package main

import (
	"github.com/spf13/cobra"

	"autotune/harness"
)

const tuneHelp = `tune searches for the settings to train the model with, by running real training
steps, and proves the answer: the largest micro-batch that fits and the next one
that does not, and a last, longer run of the winner in a fresh process.

It aims at a global batch, by default the model's recipe's: the recommended
micro-batch times its accumulation steps. The subcommand's name can be left out.`

const tuneExamples = `  autotune --model resnet
  autotune --model mlp --memory-limit 512MiB --headroom 10%
  autotune --model gpt --set layers=2 --set width=64 --global-batch 32 --max-time 2m
  autotune --model resnet --objective batch --global-batch any
  autotune --model torchvision:resnet50 --input 3,224,224 --precision fp32,bf16
  autotune --model train.py:build --batch 1..64 --knobs checkpointing
  autotune --config docs/examples/mlp.yaml`

// tuneCommand searches.
func tuneCommand(s streams) *cobra.Command {
	return trainingCommand(s, harness.CommandTune, harness.Tune, &cobra.Command{
		Use:     "tune --model NAME",
		Short:   "Find and prove the settings to train a model with (the default)",
		Long:    tuneHelp,
		Example: tuneExamples,
	})
}
