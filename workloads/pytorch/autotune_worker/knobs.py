"""Choices that are made only when asked for: activation checkpointing, torch.compile, the allocator's expandable segments."""

import difflib
import os

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from autotune_worker import compat
from autotune_worker.errors import Unsupported

_EXPANDABLE = "expandable_segments"

# How many names an error lists.
_NAMES = 12


class _Allocator:
    expandable = False  # set by an earlier trial of this process


def apply(text, task, device):
    """Applies knobs, such as "checkpointing=on,compile=on", to a task before its first step.

    Call it for every trial, without knobs too: what an earlier trial set in the allocator is set back. Raises
    Unsupported where a knob cannot be had here, or would change nothing.
    """
    chosen = _read(text)
    task.knob_checks = []
    _expandable("expandable" in chosen, task, device)
    if "checkpointing" in chosen:
        _checkpoint(chosen["checkpointing"], task)
    if "compile" in chosen:
        _compile(task)


def changed_nothing(task):
    """Says, after the first steps, which knob changed nothing and why; empty where all changed something."""
    return "; ".join(filter(None, (check() for check in task.knob_checks)))


def _read(text):
    chosen = {}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in ("checkpointing", "compile", "expandable"):
            raise Unsupported("knob %r: this engine has checkpointing, compile and expandable" % name)
        if name != "checkpointing" and value != "on":
            raise Unsupported("knob %s=%s: it can be on alone" % (name, value))
        chosen[name] = value
    return chosen


# Activation checkpointing: a module keeps its inputs alone, and runs forward again in the backward pass (Chen et al.,
# "Training Deep Nets with Sublinear Memory Cost", arXiv 1604.06174).


def blocks(model):
    """The names of the modules that checkpointing=on takes: modules with parts, of a class that is repeated, in containers.

    Containers are nn.Sequential, nn.ModuleList and nn.ModuleDict, such as the stages of a residual network and the layers
    of a transformer. The outermost blocks are taken, but for containers and stages that have blocks themselves.
    """
    found = list(_candidates("", model))
    classes = [type(module) for _, module in found]
    return [name for name, module in found if classes.count(type(module)) > 1]


_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)


def _candidates(prefix, module):
    for name, child in module.named_children():
        path = prefix + name
        inner = list(_candidates(path + ".", child))
        plain = type(child) in _CONTAINERS
        if isinstance(module, _CONTAINERS) and _is_block(child) and not (plain and inner) and not _is_stage(child):
            yield path, child
        else:
            yield from inner


def _is_block(module):
    parts = any(True for _ in module.children())
    return parts and any(True for _ in module.parameters()) and type(module) not in (nn.ModuleList, nn.ModuleDict)


def _is_stage(module):
    """Says whether a module has a container of blocks of one class, beside what comes before and after them."""
    for child in module.children():
        inner = list(child.children()) if type(child) in _CONTAINERS else []
        if len({type(block) for block in inner}) == 1 and type(inner[0]) not in _CONTAINERS and _is_block(inner[0]):
            return True
    return False


def names(model):
    """The names that checkpointing can be given: modules that have parts and parameters, the blocks first."""
    found = blocks(model)
    modules = dict(model.named_modules())
    others = [name for name, module in modules.items() if name and name not in found and any(True for _ in module.children())]
    return found + [name for name in others if any(True for _ in modules[name].parameters())]


def _checkpoint(value, task):
    chosen = blocks(task.model) if value == "on" else _named(task.model, value.split("+"))
    if not chosen:
        raise Unsupported(
            "checkpointing=on: the model has no repeated blocks in containers, so that nothing would change. %s" % _could_be(task.model)
        )
    for module in task.model.modules():
        if hasattr(getattr(module, "config", None), "use_cache"):  # of transformers: keys and values that a second pass would keep twice
            module.config.use_cache = False
    runs = [0]
    for name in chosen:
        _wrap(task.model.get_submodule(name), runs)
    task.knob_checks.append(lambda: "" if runs[0] else "checkpointing=%s changed nothing: none of %s ran in training" % (value, _list(chosen)))


def _named(model, wanted):
    """The modules of some names; a list stands for what is in it, since it does not run itself."""
    modules, chosen = dict(model.named_modules()), []
    for name in wanted:
        if not name or name not in modules:
            near = difflib.get_close_matches(name, [known for known in modules if known], 3)
            question = "; did you mean %s?" % " or ".join(near) if near else "."
            raise Unsupported("checkpointing: the model has no module %r%s %s" % (name, question, _could_be(model)))
        if type(modules[name]) in (nn.ModuleList, nn.ModuleDict):
            chosen.extend("%s.%s" % (name, child) for child, _ in modules[name].named_children())
        else:
            chosen.append(name)
    return chosen


def _could_be(model):
    found = names(model)
    return "Modules that can be named: %s" % _list(found) if found else "It has no modules that could be named"


def _list(found):
    more = " and %d more" % (len(found) - _NAMES) if len(found) > _NAMES else ""
    return ", ".join(found[:_NAMES]) + more


def _wrap(module, runs):
    """Makes a module run under checkpoint. Its batch normalisation moves the running statistics in both forward passes."""
    forward = module.forward

    def checkpointed(*args, **kwargs):
        if not torch.is_grad_enabled():
            return forward(*args, **kwargs)
        runs[0] += 1
        return checkpoint(forward, *args, use_reentrant=False, **kwargs)

    module.forward = checkpointed


def _compile(task):
    if not hasattr(torch, "compile"):
        raise Unsupported("compile=on: torch %s has no torch.compile; it is new in 2.0" % torch.__version__)
    from torch._dynamo import reset, utils

    reset()
    utils.counters.clear()
    try:
        task.model = torch.compile(task.model)
    except RuntimeError as error:  # such as a Python that is newer than this torch
        raise Unsupported("compile=on: %s" % error) from None
    task.knob_checks.append(
        lambda: "" if utils.counters["stats"]["unique_graphs"] else "compile=on changed nothing: torch.compile made no graph of the model"
    )


def _expandable(wanted, task, device):
    """Sets the CUDA allocator's expandable segments, or sets them back. Memory that it holds already stays as it is."""
    if _Allocator.expandable and not wanted:
        compat.set_allocator_settings(_EXPANDABLE + ":False")
        _Allocator.expandable = False
    if not wanted:
        return
    if device.type != "cuda":
        raise Unsupported("expandable=on: the CPU allocator has none")
    settings = os.environ.get("PYTORCH_ALLOC_CONF", "") + os.environ.get("PYTORCH_CUDA_ALLOC_CONF", "")
    if _EXPANDABLE + ":True" in settings:
        raise Unsupported("expandable=on changes nothing: the environment variable PYTORCH_CUDA_ALLOC_CONF has them on already")
    try:
        compat.set_allocator_settings(_EXPANDABLE + ":True")
    except (RuntimeError, AttributeError) as error:
        raise Unsupported("expandable=on: torch %s: %s" % (torch.__version__, error)) from None
    _Allocator.expandable = True
    task.knob_checks.append(_no_expandable_segment)


def _no_expandable_segment():
    if any(segment.get("is_expandable") for segment in torch.cuda.memory_snapshot()):
        return ""
    return "expandable=on changed nothing: the allocator made no expandable segment"
