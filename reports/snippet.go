package reports

import (
	"fmt"
	"strings"

	"autotune/harness"
)

// PyTorchSnippet is the recommendation as a training loop for PyTorch: batch
// size, accumulation with the loss divided by its steps, and what the precision
// needs. It ends with a newline. The names model, loss_fn, dataset and optimizer
// are the reader's own; the loss is a mean over the batch.
func PyTorchSnippet(r *harness.Recommendation) string {
	p := precisionCode(r.Precision)
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		fmt.Fprintf(&b, strings.Repeat("    ", indent)+format+"\n", args...)
	}
	line(0, "import torch")
	line(0, "")
	line(0, "device = next(model.parameters()).device")
	for _, text := range p.setup {
		line(0, "%s", text)
	}
	line(0, "accumulation_steps = %d  # x batch_size %d = global batch %d", r.Accumulation, r.MicroBatch, r.GlobalBatch)
	line(0, "loader = torch.utils.data.DataLoader(dataset, batch_size=%d, shuffle=True, drop_last=True)", r.MicroBatch)
	line(0, "")
	if r.Accumulation > 1 {
		line(0, "# For each epoch. Passes at its end that fill no whole step are dropped, as drop_last drops samples.")
	}
	line(0, "optimizer.zero_grad(set_to_none=True)")
	line(0, "for i, (inputs, targets) in enumerate(loader, start=1):")
	line(1, "inputs, targets = inputs.to(device), targets.to(device)")
	for _, text := range p.prepare {
		line(1, "%s", text)
	}
	indent := 1
	if p.autocast != "" {
		line(1, "with torch.autocast(device_type=device.type, dtype=%s):", p.autocast)
		indent = 2
	}
	line(indent, "loss = loss_fn(model(inputs), targets) / accumulation_steps  # loss_fn: the mean over the batch")
	line(1, "%s", p.backward)
	line(1, "if i %% accumulation_steps == 0:")
	for _, text := range p.step {
		line(2, "%s", text)
	}
	line(2, "optimizer.zero_grad(set_to_none=True)")
	return b.String()
}

// precisionLines are the parts of the loop that depend on the precision.
type precisionLines struct {
	setup    []string // before the loop
	prepare  []string // at the begin of each pass
	autocast string   // dtype of the forward pass; empty: none
	backward string
	step     []string
}

// precisionCode gives the lines for a precision: see the pages "CUDA semantics"
// (tf32) and "Automatic Mixed Precision" of PyTorch's documentation.
func precisionCode(precision string) precisionLines {
	p := precisionLines{backward: "loss.backward()", step: []string{"optimizer.step()"}}
	switch precision {
	case "fp64":
		p.setup = []string{"model.double()  # before the optimizer is made"}
		p.prepare = []string{"inputs = inputs.double() if inputs.is_floating_point() else inputs"}
	case "tf32":
		p.setup = []string{"torch.backends.cuda.matmul.allow_tf32 = True", "torch.backends.cudnn.allow_tf32 = True"}
	case "fp32":
		p.setup = []string{"torch.backends.cuda.matmul.allow_tf32 = False  # fp32 in full; no effect on a CPU",
			"torch.backends.cudnn.allow_tf32 = False"}
	case "bf16":
		p.autocast = "torch.bfloat16"
	case "fp16":
		p.autocast = "torch.float16"
		p.setup = []string{"scaler = torch.amp.GradScaler(device.type)"}
		p.backward = "scaler.scale(loss).backward()"
		p.step = []string{"scaler.step(optimizer)", "scaler.update()"}
	}
	return p
}
