package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/spf13/cobra"

	"autotune/workloads"
)

const modelsHelp = `models lists what can be trained: parameters, floating-point operations of a
sample's forward pass (a multiply-add counts as two), the shape of a sample, the recipe's
global batch and optimizer, and the options that --set can choose, with their defaults.`

const modelsExamples = `  autotune models
  autotune models --json`

// modelsCommand lists the models.
func modelsCommand(s streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "models",
		Short:   "List what can be trained",
		Long:    modelsHelp,
		Example: modelsExamples,
		Args:    noArguments,
		RunE: func(*cobra.Command, []string) error {
			models, err := workloads.Models()
			if err != nil {
				return err
			}
			if asJSON {
				encoder := json.NewEncoder(s.out)
				encoder.SetIndent("", "  ")
				return encoder.Encode(models)
			}
			return writeModels(s, models)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, jsonUsage)
	return cmd
}

// writeModels writes the table and under it a line for each option.
func writeModels(s streams, models []workloads.Model) error {
	table := tablewriter.NewTable(s.out,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Settings: tw.Settings{Separators: tw.SeparatorsNone},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithAlignment(tw.Alignment{tw.AlignLeft, tw.AlignRight, tw.AlignRight, tw.AlignLeft, tw.AlignLeft, tw.AlignLeft}),
	)
	table.Header("model", "parameters", "FLOPs/sample", "sample", "recipe", "options")
	for _, m := range models {
		if err := table.Append(modelRow(m)); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.out, "\nautotune models --json says what each option does.")
	return err
}

func modelRow(m workloads.Model) []string {
	name := m.Name
	if target := m.Alias["cpu"]; target != "" {
		name += " = " + target
	}
	recipe := "-"
	if m.Facts.RecipeBatch > 0 {
		recipe = fmt.Sprintf("%d, %s", m.Facts.RecipeBatch, m.Facts.RecipeOptimizer)
	}
	var options []string
	for _, o := range m.Options {
		options = append(options, o.Name+"="+o.Default)
	}
	return []string{name, grouped(m.Facts.Parameters), grouped(m.Facts.FLOPsPerSample),
		strings.Trim(strings.ReplaceAll(fmt.Sprint(m.Facts.InputShape), " ", "x"), "[]"), recipe, strings.Join(options, " ")}
}

// grouped is a whole number with commas between groups of three digits.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
