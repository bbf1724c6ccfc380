package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
	"github.com/spf13/cobra"

	"autotune/harness"
	"autotune/workloads"
)

const modelsHelp = `models lists what can be trained: parameters, floating-point operations of a
sample's forward pass (a multiply-add counts as two), the shape of a sample, the recipe's
global batch and optimizer, and the options that --set can choose, with their defaults.
Models of PyTorch are named by their library, or by a file of yours.`

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
			return writeModels(s.out, models)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, jsonUsage)
	return cmd
}

// writeModels writes one table of the models and one of their options.
func writeModels(w io.Writer, models []workloads.Model) error {
	list := newTable(w, tw.AlignLeft, tw.AlignRight, tw.AlignRight, tw.AlignLeft, tw.AlignLeft)
	list.Header("model", "parameters", "FLOPs/sample", "sample", "recipe")
	choices := newTable(w, tw.AlignLeft, tw.AlignLeft, tw.AlignLeft, tw.AlignLeft)
	choices.Header("model", "--set", "default", "what it is")
	for _, m := range models {
		if err := list.Append(modelRow(m)); err != nil {
			return err
		}
		for _, o := range m.Options {
			if err := choices.Append([]string{m.Name, o.Name, o.Default, wrap(o.Summary, summaryWidth)}); err != nil {
				return err
			}
		}
	}
	if err := list.Render(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := choices.Render(); err != nil {
		return err
	}
	_, err := fmt.Fprint(w, morePyTorch)
	return err
}

// summaryWidth is what the other columns of the options leave of helpWidth.
const summaryWidth = 32

// morePyTorch says what else can be named.
const morePyTorch = `
The engine pytorch trains these too:
  torchvision:NAME, timm:NAME, transformers:NAME
                             a model of these libraries, with random weights
  PACKAGE.MODULE:CALLABLE    what makes a torch.nn.Module
  FILE.py:FUNCTION           your own model, optimizer, batches and loss
                             (the function is build where none is named)
--input and --classes say what such a model is fed where it cannot be found out.
`

// newTable is a table with a rule under its header and no other lines.
func newTable(w io.Writer, columns ...tw.Align) *tablewriter.Table {
	return tablewriter.NewTable(w,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders:  tw.BorderNone,
			Symbols:  tw.NewSymbols(tw.StyleASCII),
			Settings: tw.Settings{Separators: tw.SeparatorsNone},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithAlignment(columns),
	)
}

func modelRow(m workloads.Model) []string {
	name := m.Name
	if target := m.Alias["cpu"]; target != "" {
		name += " = " + target
	}
	return []string{name, known(m.Facts.Parameters), known(m.Facts.FLOPsPerSample), shapeText(m.Facts.InputShape), recipeText(m.Facts)}
}

// shapeText is a sample's shape, such as 3x32x32.
func shapeText(shape []int) string {
	var sides []string
	for _, side := range shape {
		sides = append(sides, strconv.Itoa(side))
	}
	return cmp.Or(strings.Join(sides, "x"), "-")
}

// recipeText is the recipe's global batch and optimizer.
func recipeText(f harness.ModelFacts) string {
	if f.RecipeBatch == 0 {
		return "-"
	}
	return fmt.Sprintf("%d, %s", f.RecipeBatch, f.RecipeOptimizer)
}

// known is a count with commas between groups of three digits; "-" where there is none.
func known(n int64) string {
	if n == 0 {
		return "-"
	}
	return grouped(n)
}

// grouped is a whole number with commas between groups of three digits.
func grouped(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
