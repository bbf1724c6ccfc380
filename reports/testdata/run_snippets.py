"""Runs training loops, a JSON list on standard input, on a small model without batch normalisation.

At every optimizer step the gradient must be that of one pass over all the step's samples, to the tolerance of the loop
as a part of its norm. A loop with the tolerance 0 is read and not run.
"""

import json
import sys

import torch
import torchvision

torch.set_num_threads(1)


class Recorder(torch.optim.Optimizer):
    """Changes no weight, and compares the gradient at each step with that of all samples since the last one."""

    def __init__(self, model, loss_fn, dataset, tolerance):
        super().__init__(model.parameters(), {})
        self.model, self.loss_fn, self.dataset, self.tolerance = model, loss_fn, dataset, tolerance
        self.seen = []  # inputs of the passes since the last step
        self.steps = self.samples = 0
        model.register_forward_pre_hook(lambda module, inputs: self.seen.append(inputs[0].detach()))

    def step(self):
        got = torch.cat([p.grad.flatten() for p in self.model.parameters()])
        inputs = torch.cat(self.seen)
        all_inputs, all_targets = self.dataset.tensors
        rows = [int((all_inputs.to(x.dtype) == x).all(dim=1).nonzero()) for x in inputs]
        loss = self.loss_fn(self.model(inputs), all_targets[rows])
        whole = torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(self.model.parameters()))])
        self.seen.clear()
        self.steps += 1
        self.samples += len(rows)
        error = float((got - whole).norm() / whole.norm())
        assert error < self.tolerance, "step {}: the gradient is {} off".format(self.steps, error)


def run(program, tolerance):
    torch.manual_seed(1)
    blocks = [torch.nn.Sequential(torch.nn.Linear(width, 16), torch.nn.Tanh()) for width in (6, 16)]
    model = torch.nn.Sequential(*blocks, torch.nn.Linear(16, 5))
    passes = []  # of the first block
    blocks[0][0].register_forward_pre_hook(lambda module, inputs: passes.append(1))
    dataset = torch.utils.data.TensorDataset(torch.randn(22, 6), torch.randint(5, (22,)))  # no multiple of the micro-batch of 4
    loss_fn = torch.nn.CrossEntropyLoss()
    optimizer = Recorder(model, loss_fn, dataset, tolerance)
    exec(program, {"model": model, "dataset": dataset, "loss_fn": loss_fn, "optimizer": optimizer})
    assert optimizer.samples == len(dataset), "{} samples were seen".format(optimizer.samples)
    assert optimizer.steps >= 2, "{} steps ran".format(optimizer.steps)
    return len(passes)


def check_blocks(program):
    """Holds the blocks that a loop checkpoints against those that the engine takes."""
    from autotune_worker import knobs  # on PYTHONPATH

    for name in ("resnet18", "mobilenet_v3_small", "vit_b_16", "swin_t", "convnext_tiny", "densenet121"):
        with torch.device("meta"):
            model = torchvision.models.get_model(name)
        found = {"torch": torch, "model": model}
        exec(program[program.index("containers =") : program.index("for block in blocks")], found)
        taken = [model.get_submodule(block) for block in knobs.blocks(model)]
        assert found["blocks"] == taken, "{}: {} blocks, the engine takes {}".format(name, len(found["blocks"]), len(taken))
        print(name, len(taken))


for snippet in json.load(sys.stdin):
    print(snippet["Name"], flush=True)
    program = compile(snippet["Program"], snippet["Name"], "exec")
    if "containers =" in snippet["Program"]:
        check_blocks(snippet["Program"])
    if snippet["Tolerance"]:
        passes = run(program, snippet["Tolerance"])
        assert (passes > 12) == ("checkpointing" in snippet["Name"]), "{} passes through a block".format(passes)
