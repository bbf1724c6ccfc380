package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/tw"
	"github.com/spf13/cobra"

	"autotune/harness"
	"autotune/harness/protocol"
	"autotune/tuner"
	"autotune/workloads"
	"autotune/workloads/pytorch"
)

const predictHelp = `predict says what training would take of memory, without running it: PyTorch's fake
tensors go through two optimizer steps, and what they would allocate is counted.
The peak of each size is split by what holds it at that moment. With --card it names
the largest micro-batch that should fit.

Every figure is predicted, none is measured. They are bytes of tensors: what libraries
take inside of an operation, and on CUDA the context and fragmentation, come on top.
PyTorch 2 is needed; other engines cannot predict.`

const predictExamples = `  autotune predict --model resnet --batch 8,32
  autotune predict --model torchvision:vit_b_16 --precision bf16 --optimizer adam --card 24GiB
  autotune predict --model train.py:build --batch 16 --knobs checkpointing=on --json`

const (
	// predictBatch are the sizes where the user gives none.
	predictBatch = "1,8,32,128"
	// predictMost is how many rows a table may have.
	predictMost = 256
)

// predictCommand predicts memory.
func predictCommand(s streams) *cobra.Command {
	p := &predictFlags{settings: defaultSettings(harness.CommandBench)}
	p.settings.Engine, p.settings.Batch, p.settings.MemoryLimit = pytorch.Engine, predictBatch, "none"
	cmd := &cobra.Command{
		Use:     "predict --model NAME",
		Short:   "Predict memory without running, and what fits a card",
		Long:    predictHelp,
		Example: predictExamples,
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return p.predict(s) },
	}
	p.add(cmd)
	return cmd
}

// predictFlags are what is predicted.
type predictFlags struct {
	settings harness.Settings
	card     string // a size as written; empty: none
	json     bool
}

func (p *predictFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.SortFlags = false
	addModelFlags(f, &p.settings)
	f.Var(text{value: &p.settings.Engine}, "engine", "`NAME` of the engine; "+pytorch.Engine+" alone predicts")
	addDeviceFlags(f, &p.settings)
	f.Var(names{&p.settings.Precision, oneOf(harness.Precisions()...)}, "precision", "`LIST` of precisions: "+strings.Join(harness.Precisions(), ", "))
	addKnobFlag(f, &p.settings)
	f.Var(text{&p.settings.Batch, checkSizes}, "batch", "micro-batch `SIZES` to split by what holds them: a list 8,16,32 or a range")
	addAccumulationFlag(f, &p.settings)
	addOptimizerFlag(f, &p.settings)
	f.Var(text{&p.card, checkCard}, "card", "memory `SIZE` of a device, such as 24GiB: the largest micro-batch that should fit")
	f.BoolVar(&p.json, "json", false, jsonUsage)
}

// checkCard refuses what is no size of memory.
func checkCard(s string) error {
	_, err := harness.ParseBytes(s)
	return err
}

// predict predicts, and prints what came of it.
func (p *predictFlags) predict(s streams) error {
	if p.settings.Model == "" {
		return usagef("no model is named; give one, such as autotune predict --model resnet (autotune models lists them)")
	}
	if p.settings.Engine == workloads.Auto {
		p.settings.Engine = pytorch.Engine
	}
	if e := p.settings.Engine; e == workloads.Gorgonia || e == workloads.Simulated {
		return usagef("--engine %s cannot predict memory; --engine %s can", e, pytorch.Engine)
	}
	workload, err := resolve(p.settings)
	if err != nil {
		return err
	}
	plan, err := harness.NewPlan(p.settings, workload, harness.ReadEnvironment())
	if err != nil {
		return err
	}
	if n := len(plan.Configs); n > predictMost {
		return usagef("--batch %s: %d configurations are too many to split; give at most %d", p.settings.Batch, n, predictMost)
	}
	if workload.Predicts { // else the error says all
		for _, note := range plan.Notes {
			say(s.err, note)
		}
	}
	ctx, stop := interruptible(func() {})
	defer stop()
	predictions, err := p.predictAll(ctx, plan, workload)
	if errors.Is(err, harness.ErrInterrupted) {
		return &failure{code: harness.ExitInterruption, text: "interrupted"}
	}
	if err != nil {
		return err
	}
	if p.json {
		encoder := json.NewEncoder(s.out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(predictions)
	}
	for _, each := range predictions {
		if err := each.write(s.out); err != nil {
			return err
		}
	}
	return nil
}

// predictAll predicts each precision with each choice of knobs and each number of accumulation steps.
func (p *predictFlags) predictAll(ctx context.Context, plan harness.Plan, w harness.Workload) ([]prediction, error) {
	var predictions []prediction
	for _, group := range groups(plan.Configs) {
		var sizes []int
		for _, c := range group {
			sizes = append(sizes, c.MicroBatch)
		}
		predicted, err := harness.Predict(ctx, w, plan.Header.Settings, group[0], sizes)
		if err != nil {
			return nil, err
		}
		predictions = append(predictions, p.prediction(plan.Header, group[0], predicted))
	}
	return predictions, nil
}

// groups are the configurations that differ in nothing but the micro-batch, together.
func groups(configs []tuner.Config) [][]tuner.Config {
	var all [][]tuner.Config
	at := map[tuner.Config]int{}
	for _, c := range configs {
		key := c
		key.MicroBatch = 0
		i, known := at[key]
		if !known {
			i = len(all)
			at[key], all = i, append(all, nil)
		}
		all[i] = append(all[i], c)
	}
	return all
}

// prediction is what is printed of one set and number of accumulation steps. Nothing in it was measured.
type prediction struct {
	Predicted    bool              `json:"predicted"` // always true
	Model        string            `json:"model"`
	Engine       string            `json:"engine"`
	Versions     map[string]string `json:"versions"`
	Device       string            `json:"device"`
	Precision    string            `json:"precision"`
	Knobs        string            `json:"knobs,omitempty"`
	Accumulation int               `json:"accumulation_steps"`
	Optimizer    string            `json:"optimizer"`
	Counter      string            `json:"counter"` // whose peak it is
	Lines        []protocol.Line   `json:"lines"`   // the peak of every size is that of the highest line there
	Sizes        []protocol.Split  `json:"sizes"`
	Card         *card             `json:"card,omitempty"`
	Seconds      float64           `json:"seconds"` // that the prediction took
}

// card is a device's memory and the largest micro-batch that should fit it.
type card struct {
	Bytes   int64 `json:"bytes"`
	Largest int64 `json:"largest_micro_batch"` // 0: not even one sample
}

func (p *predictFlags) prediction(h harness.Header, c tuner.Config, got *protocol.Predicted) prediction {
	made := prediction{
		Predicted: true, Model: h.Model, Engine: h.Engine, Versions: h.Versions, Device: h.Device,
		Precision: c.Precision, Knobs: c.Knobs, Accumulation: c.Accumulation, Optimizer: h.Settings.Optimizer,
		Counter: got.Counter, Lines: got.Lines, Sizes: got.Splits, Seconds: got.Seconds,
	}
	if p.card != "" {
		bytes, _ := harness.ParseBytes(p.card) // the flag was checked
		made.Card = &card{Bytes: bytes, Largest: largest(got.Lines, bytes)}
	}
	return made
}

// largest is the largest size whose peak is within so many bytes; 0: none.
func largest(lines []protocol.Line, bytes int64) int64 {
	size := float64(math.MaxInt32)
	for _, l := range lines {
		switch room := float64(bytes) - l.Fixed; {
		case l.PerSample > 0:
			size = min(size, math.Floor(room/l.PerSample))
		case room < 0:
			size = 0
		}
	}
	return int64(max(size, 0))
}

// write writes the prediction for people.
func (p prediction) write(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "predicted, nothing was run: %s\n\n", p.title()); err != nil {
		return err
	}
	table := newTable(w, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignRight)
	table.Header("batch", "peak", "params", "gradients", "optimizer", "activations", "temporary")
	for _, s := range p.Sizes {
		row := []string{strconv.Itoa(s.MicroBatch)}
		for _, bytes := range []int64{s.Peak, s.Parameters, s.Gradients, s.OptimizerState, s.Activations, s.Temporary} {
			row = append(row, harness.FormatBytes(bytes))
		}
		if err := table.Append(row); err != nil {
			return err
		}
	}
	if err := table.Render(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n\n", strings.Join(p.remarks(), "\n"))
	return err
}

// title says what is trained, and how.
func (p prediction) title() string {
	parts := []string{p.Model, p.Optimizer, p.Precision, fmt.Sprintf("accumulation %d", p.Accumulation)}
	if p.Knobs != "" {
		parts = append(parts, p.Knobs)
	}
	return strings.Join(append(parts, p.Device), ", ")
}

// remarks say what fits the card, and what the figures leave out.
func (p prediction) remarks() []string {
	var lines []string
	if c := p.Card; c != nil && c.Largest > 0 {
		lines = append(lines, fmt.Sprintf("Predicted: micro-batch %d is the largest that should fit in %s.", c.Largest, harness.FormatBytes(c.Bytes)))
		if strings.Contains(p.Model, ".py") {
			lines = append(lines, "How many samples your data set has is not known to a prediction.")
		}
	} else if c != nil {
		lines = append(lines, fmt.Sprintf("Predicted: not even one sample should fit in %s.", harness.FormatBytes(c.Bytes)))
	}
	if p.Counter == protocol.Allocated || p.Card != nil {
		return append(lines, "On CUDA the context, workspaces of libraries and fragmentation come on top.")
	}
	return append(lines, "What libraries take inside of an operation comes on top.")
}
