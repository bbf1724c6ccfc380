"""A small task, and what stands in for the pipe to the harness."""

import itertools

import torch

from autotune_worker import task

OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
    "adam": lambda parameters: torch.optim.Adam(parameters),
}


def make(work, micro_batch, place, precision, width=32, seen=None):
    """A task of two linear layers. Its loader gives batches of the sizes in seen, over and over; None: of micro_batch."""
    torch.manual_seed(work["seed"])
    dtype = torch.float64 if precision == "fp64" else torch.float32
    model = torch.nn.Sequential(torch.nn.Linear(16, width), torch.nn.ReLU(), torch.nn.Linear(width, 4)).to(place, dtype)
    data = torch.randn(256, 16, dtype=dtype), torch.randint(0, 4, (256,))
    batches = _batches(data, seen or [micro_batch])
    return task.Task(model, OPTIMIZERS[work["optimizer"]](model.parameters()), loss, batches, lambda batch: len(batch[0]))


def _batches(data, sizes):
    at = 0
    for size in itertools.cycle(sizes):
        places = torch.arange(at, at + size) % 256
        yield data[0][places], data[1][places]
        at += size


def loss(model, batch):
    return torch.nn.functional.cross_entropy(model(batch[0]), batch[1])


def message(**fields):
    """A trial's message, with other values for some of its fields."""
    trial = {"v": 1, "op": "trial", "trial": 1, "model": "stub", "optimizer": "momentum", "seed": 1, "precision": "fp32", "micro_batch": 8}
    trial.update({"accumulation_steps": 1, "warmup_steps": 2, "steps": 2, "seconds": 0, "limit_bytes": 0})
    trial.update(fields)
    return trial


class Wire:
    """Keeps what a trial says."""

    def __init__(self):
        self.steps = []  # (step, warmup)
        self.held = []  # bytes after each step; None: not looked at
        self.ends = []  # (op, fields)

    def step(self, step, warmup, held=None):
        self.steps.append((step, warmup))
        self.held.append(held)

    def say(self, op, **fields):
        self.ends.append((op, fields))

    @property
    def losses(self):
        return [step.loss for step, _ in self.steps]

    @property
    def end(self):
        """The fields of the last message, its op among them."""
        op, fields = self.ends[-1]
        return dict(fields, op=op)
