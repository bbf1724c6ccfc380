"""Models by name: torchvision:NAME, timm:NAME, transformers:NAME, or any package.module:callable. Their data is made up."""

import ast
import itertools

import torch

from autotune_worker import huggingface, nested, optimizers, packages
from autotune_worker.task import Task


def build(work, micro_batch, device, precision):
    """Builds the task of a model by name; see task.build. Weights and data are random, under the work's seed.

    The batch is made once and used by every pass.
    """
    seed = work["seed"] % 2**63
    torch.manual_seed(seed)
    source = huggingface if work["model"].startswith("transformers:") else packages
    model, form = source.make(work["model"], options(work), tuple(work.get("input_shape") or ()), work.get("classes") or 0)
    batch = form.batch(micro_batch, torch.Generator().manual_seed(seed))
    if precision == "fp64":
        model, batch = model.double(), nested.convert(nested.double, batch)
    if device.type == "cuda":
        batch = nested.convert(torch.Tensor.pin_memory, batch)
    model = model.train().to(device)
    optimizer = optimizers.usual(work["optimizer"], model)
    return Task(model, optimizer, form.loss, itertools.repeat(batch), nested.samples, facts=form.facts())


def options(work):
    """The options as arguments: Python literals, and text where they are none."""
    return {name: _literal(text) for name, text in (work.get("options") or {}).items()}


def _literal(text):
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
