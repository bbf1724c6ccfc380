package reports

import (
	"fmt"
	"strings"

	"autotune/harness"
)

// PyTorchSnippet is the recommendation as a training loop for PyTorch: batch size,
// accumulation with each pass weighted by its share of the step's samples, and what precision
// and knobs need. It ends with a newline. The names model, loss_fn, dataset and
// optimizer are the reader's own; the loss is a mean over the batch.
func PyTorchSnippet(r *harness.Recommendation) string {
	c := codeOf(r)
	var s script
	if r.Accumulation > 1 {
		c.standard = append(c.standard, "itertools")
	}
	for _, module := range c.standard {
		s.lines(0, "import "+module)
	}
	if len(c.standard) > 0 {
		s.lines(0, "")
	}
	s.lines(0, c.first...)
	s.lines(0, "import torch")
	s.lines(0, c.imports...)
	s.lines(0, "", "device = next(model.parameters()).device")
	s.lines(0, c.setup...)
	s.lines(0, fmt.Sprintf("loader = torch.utils.data.DataLoader(dataset, batch_size=%d, shuffle=True)", r.MicroBatch))
	if r.Accumulation > 1 {
		s.accumulating(r, c)
	} else {
		s.lines(0, "", "for inputs, targets in loader:  # an epoch")
		s.lines(1, "optimizer.zero_grad(set_to_none=True)")
		s.pass(1, c, false)
		s.lines(1, c.step...)
	}
	return s.String()
}

// script is a program that is being written.
type script struct{ strings.Builder }

// lines writes lines with an indent of so many levels; an empty one has none.
func (s *script) lines(indent int, lines ...string) {
	for _, line := range lines {
		if line != "" {
			s.WriteString(strings.Repeat("    ", indent))
		}
		s.WriteString(line + "\n")
	}
}

// accumulating writes the loop of steps of several passes.
func (s *script) accumulating(r *harness.Recommendation, c codeLines) {
	s.lines(0, fmt.Sprintf("accumulation_steps = %d  # x batch_size %d = global batch %d", r.Accumulation, r.MicroBatch, r.GlobalBatch), "", "",
		"def steps(loader):")
	s.lines(1, `"""The batches of each optimizer step. The last step of an epoch may have fewer, and its last batch fewer samples."""`,
		"batches = iter(loader)", "while step := list(itertools.islice(batches, accumulation_steps)):")
	s.lines(2, "yield step")
	s.lines(0, "", "", "for step in steps(loader):  # an epoch")
	s.lines(1, "samples = sum(len(targets) for _, targets in step)  # for a mean over tokens: those that count",
		"optimizer.zero_grad(set_to_none=True)", "for inputs, targets in step:")
	s.pass(2, c, true)
	s.lines(1, c.step...)
}

// pass writes one forward and backward pass, weighted by its share of the step's samples where it is one of several.
func (s *script) pass(indent int, c codeLines, weighted bool) {
	s.lines(indent, "inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)")
	s.lines(indent, c.prepare...)
	forward := indent
	if c.autocast != "" {
		s.lines(indent, fmt.Sprintf("with torch.autocast(device_type=device.type, dtype=%s):", c.autocast))
		forward++
	}
	s.lines(forward, "loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch")
	if weighted {
		s.lines(indent, "loss = loss * (len(targets) / samples)")
	}
	s.lines(indent, c.backward)
}

// codeLines are the parts of the program that depend on precision and knobs.
type codeLines struct {
	standard []string // modules of the standard library, without itertools
	first    []string // before torch is imported
	imports  []string // after torch
	setup    []string // before the loop
	prepare  []string // at the begin of each pass
	autocast string   // dtype of the forward pass; empty: none
	backward string
	step     []string
}

// codeOf gives the lines for a precision and knobs: see the pages "CUDA semantics" (tf32,
// expandable segments), "Automatic Mixed Precision", "torch.utils.checkpoint" and
// "torch.compile" of PyTorch's documentation.
func codeOf(r *harness.Recommendation) codeLines {
	c := codeLines{backward: "loss.backward()", step: []string{"optimizer.step()"}}
	switch r.Precision {
	case "fp64":
		c.setup = []string{"model.double()  # before the optimizer is made"}
		c.prepare = []string{"inputs = inputs.double() if inputs.is_floating_point() else inputs"}
	case "tf32":
		c.setup = []string{"torch.backends.cuda.matmul.allow_tf32 = True", "torch.backends.cudnn.allow_tf32 = True"}
	case "fp32":
		c.setup = []string{"torch.backends.cuda.matmul.allow_tf32 = False  # fp32 in full; no effect on a CPU",
			"torch.backends.cudnn.allow_tf32 = False"}
	case "bf16":
		c.autocast = "torch.bfloat16"
	case "fp16":
		c.autocast = "torch.float16"
		c.setup = []string{"scaler = torch.amp.GradScaler(device.type)  # before torch 2.3: torch.cuda.amp.GradScaler()"}
		c.backward = "scaler.scale(loss).backward()"
		c.step = []string{"scaler.step(optimizer)", "scaler.update()"}
	}
	if strings.HasPrefix(r.Model, "transformers:") && strings.Contains(r.Knobs, "checkpointing=") {
		c.setup = append(c.setup, "model.config.use_cache = False  # keys and values, which a second forward pass would keep twice")
	}
	for knob := range strings.SplitSeq(r.Knobs, ",") {
		name, value, _ := strings.Cut(knob, "=")
		c.addKnob(name, value)
	}
	return c
}

// addKnob adds what a knob needs; one that PyTorch does not have adds nothing.
func (c *codeLines) addKnob(name, value string) {
	switch name {
	case "checkpointing":
		c.standard = append(c.standard, "functools")
		c.imports = append(c.imports, "from torch.utils.checkpoint import checkpoint")
		c.setup = append(c.setup, checkpointing(value)...)
	case "compile":
		c.setup = append(c.setup, "model = torch.compile(model)")
	case "expandable":
		c.standard = append(c.standard, "os")
		c.first = append(c.first, `os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"  # before torch is imported`)
	}
}

// checkpointing wraps the modules that are named or, by the engine's own rule (workloads/pytorch/autotune_worker/knobs.py),
// the repeated blocks of the model's containers.
func checkpointing(value string) []string {
	lines := strings.Split(repeatedBlocks, "\n")
	if value != "on" {
		names := `"` + strings.Join(strings.Split(value, "+"), `", "`) + `"`
		lines = []string{"named = [model.get_submodule(name) for name in [" + names + "]]",
			"lists = (torch.nn.ModuleList, torch.nn.ModuleDict)  # which do not run themselves",
			"blocks = [block for module in named for block in (module.children() if type(module) in lists else [module])]"}
	}
	return append(lines, "for block in blocks:  # their activations are computed again in the backward pass",
		"    block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)")
}

// repeatedBlocks finds the blocks.
const repeatedBlocks = `
containers = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)


def is_block(module):
    return bool(list(module.children()) and list(module.parameters())) and type(module) not in containers[1:]


def is_stage(module):  # it has a container of blocks of one class
    groups = [list(child.children()) for child in module.children() if type(child) in containers]
    return any(len(set(map(type, g))) == 1 and type(g[0]) not in containers and is_block(g[0]) for g in groups)


def parts(module):
    """The outermost blocks in containers, such as the layers of a transformer; of stages theirs."""
    for child in module.children():
        inner = list(parts(child))
        holds_more = type(child) in containers and inner or is_stage(child)
        if isinstance(module, containers) and is_block(child) and not holds_more:
            yield child
        else:
            yield from inner


kinds = [type(block) for block in parts(model)]
blocks = [block for block in parts(model) if kinds.count(type(block)) > 1]`
