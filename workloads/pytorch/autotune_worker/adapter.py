"""A user's own file: FILE.py:FUNCTION gives model, optimizer, batches and loss."""

import importlib.util
import inspect
import os
import sys

import torch

from autotune_worker import nested
from autotune_worker.errors import Usage, WrongBatch
from autotune_worker.task import Task

# What the function is named where the user names none.
_DEFAULT = "build"

# What the function returns, in the order in which a tuple has it. samples may be left out.
_PARTS = ("model", "optimizer", "batches", "loss")

# What a precision's parameters are: with bf16 and fp16 those of a model for autocast, or the precision's own. Others are fp32.
_TRAINED = {"fp64": (torch.float64,), "bf16": (torch.float32, torch.bfloat16), "fp16": (torch.float32, torch.float16)}

_WANTED = (
    "return model, optimizer, batches, loss: a torch.nn.Module, a torch.optim.Optimizer over its parameters, an iterable of "
    "batches of micro_batch samples such as a DataLoader, and a function loss(model, batch) that gives the mean loss"
)


def build(work, micro_batch, device, precision):
    """Builds the task of a user's function; see task.build."""
    name = work["model"]
    function = load(name)
    parts = _read(_call(function, name, micro_batch, precision, device), name)
    _check(parts, name)
    model = parts["model"].to(device)
    if precision == "fp64":
        model = model.double()
    _check_dtype(model, precision, name)
    _check_parameters(parts["optimizer"], model, name)
    batches = endless(parts["batches"], micro_batch, name)
    if precision == "fp64":
        batches = (nested.convert(nested.double, batch) for batch in batches)
    return Task(model, parts["optimizer"], _checked(parts["loss"], name), batches, parts.get("samples") or nested.samples, own_optimizer=True)


def split(name):
    """Splits FILE.py:FUNCTION; the function is build where none is named."""
    file, _, function = name.rpartition(":") if not name.endswith(".py") else (name, "", "")
    return file, function or _DEFAULT


def load(name):
    """Gives the function that a name stands for."""
    file, wanted = split(name)
    if not os.path.isfile(file):
        raise Usage("--model %s: there is no file %s in %s" % (name, file, os.getcwd()))
    module = _module(os.path.abspath(file))
    function = getattr(module, wanted, None)
    if callable(function):
        return function
    functions = [n for n, value in vars(module).items() if inspect.isfunction(value) and value.__module__ == module.__name__]
    has = "its functions are " + ", ".join(functions) if functions else "it has no functions"
    raise Usage("--model %s: %s has no function %s; %s. Name one as %s:FUNCTION" % (name, file, wanted, has, file))


# The files that were imported, by their paths: each once, as a program would.
_modules = {}


def _module(path):
    """Imports a file as a module of its own name, which its own classes are found by when they are pickled."""
    if path in _modules:
        return _modules[path]
    sys.argv[0] = path  # what a parser of arguments calls the program
    folder = os.path.dirname(path)
    if folder not in sys.path:  # the file's neighbours can be imported, as when it is run by itself
        sys.path.insert(0, folder)
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules:  # such as a file named like a module of Python's library
        name = "adapter_" + name
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    _modules[path] = module
    return module


def _call(function, name, micro_batch, precision, device):
    """Calls the function with micro_batch and precision by name, and with device where it takes one."""
    given = {"micro_batch": micro_batch, "precision": precision}
    parameters = inspect.signature(function).parameters
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if "device" in parameters:
        given["device"] = device
    missing = [n for n in given if n not in parameters and not takes_all]
    unknown = [n for n, p in parameters.items() if n not in given and p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    if missing or unknown:
        raise Usage(
            "--model %s: the function takes (%s); it is called with micro_batch and precision, and with device where it has that parameter"
            % (name, ", ".join(str(p) for p in parameters.values()))
        )
    return function(**given)


def _read(returned, name):
    """Gives the parts of what the function returned: a tuple in order, or a dict or an object with their names."""
    if isinstance(returned, (tuple, list)) and not hasattr(returned, "_fields"):
        if len(returned) != len(_PARTS):
            raise Usage("--model %s: the function returned %s; %s" % (name, _describe(returned), _WANTED))
        return dict(zip(_PARTS, returned))
    if isinstance(returned, dict):
        parts = {part: returned.get(part) for part in _PARTS + ("samples",)}
    else:
        parts = {part: getattr(returned, part, None) for part in _PARTS + ("samples",)}
    missing = [part for part in _PARTS if parts[part] is None]
    if missing:
        raise Usage("--model %s: the function returned %s without %s; %s" % (name, _describe(returned), ", ".join(missing), _WANTED))
    return parts


def _check(parts, name):
    """Refuses parts of the wrong kind."""
    checks = (
        ("model", isinstance(parts["model"], torch.nn.Module), "a torch.nn.Module"),
        ("optimizer", isinstance(parts["optimizer"], torch.optim.Optimizer), "a torch.optim.Optimizer"),
        ("batches", hasattr(parts["batches"], "__iter__"), "an iterable of batches, such as a DataLoader"),
        ("loss", _is_loss(parts["loss"]), "a function loss(model, batch)"),
        ("samples", parts.get("samples") is None or callable(parts["samples"]), "a function samples(batch) that counts a batch's samples"),
    )
    for part, right, wanted in checks:
        if not right:
            raise Usage("--model %s: %s is %s, not %s; %s" % (name, part, _describe(parts[part]), wanted, _WANTED))


def _is_loss(loss):
    """A criterion of torch.nn takes outputs and targets, not a model and a batch."""
    return callable(loss) and not isinstance(loss, torch.nn.modules.loss._Loss)


def _check_parameters(optimizer, model, name):
    """Refuses an optimizer that trains none of the model's parameters: steps would do nothing."""
    trained = {id(p) for group in optimizer.param_groups for p in group["params"]}
    if not any(id(p) in trained for p in model.parameters()):
        raise Usage("--model %s: the optimizer has none of the model's parameters; make it of model.parameters() after the model is whole" % name)


def _check_dtype(model, precision, name):
    """Refuses a model most of whose trained elements are of another precision than is asked for, as after
    torch.set_default_dtype. A smaller part of them, and what is not trained, is the user's own affair."""
    wanted = _TRAINED.get(precision, (torch.float32,))
    right, others = 0, []
    for parameter_name, p in model.named_parameters():
        if p.requires_grad and p.is_floating_point():
            if p.dtype in wanted:
                right += p.numel()
            else:
                others.append((p.numel(), p.dtype, parameter_name))
    if sum(count for count, _, _ in others) > right:
        _, dtype, largest = max(others, key=lambda other: other[0])
        raise Usage(
            "--model %s: the model's parameters are %s (such as %s), and --precision %s trains %s: leave the default dtype as it is, "
            "build the model for the precision that the function is given, or name the model's own by --precision"
            % (name, str(dtype)[6:], largest, precision, " or ".join(str(dtype)[6:] for dtype in wanted))
        )


def endless(batches, micro_batch, name):
    """Gives the batches again and again, as epochs do. A turn in which none comes is an error, not an endless wait."""
    turns = 0
    while True:
        seen = False
        for batch in batches:
            seen = True
            yield batch
        if not seen and turns == 0:
            size = _data_size(batches)
            known = ": the data set has %d samples, and drop_last leaves out a shorter batch" % size if size else ""
            raise WrongBatch("a micro-batch of %d samples was asked for, the batches are empty%s" % (micro_batch, known), size)
        if not seen:
            raise Usage("--model %s: the batches came to an end and cannot be read again; return a DataLoader, a list or an endless iterator" % name)
        turns += 1


def _data_size(batches):
    """How many samples the data set has, where the loader says so; else 0."""
    try:
        return len(batches.dataset)
    except (AttributeError, TypeError):
        return 0


def _checked(loss, name):
    """The user's loss, whose value must be one number that can be trained on."""

    def value(model, batch):
        result = loss(model, batch)
        if not isinstance(result, torch.Tensor) or result.numel() != 1:
            raise Usage("--model %s: loss gave %s; it must give a tensor of one value, the mean over the batch's samples" % (name, _describe(result)))
        return result

    return value


def _describe(value):
    if isinstance(value, (tuple, list)):
        return "a %s of %d (%s)" % (type(value).__name__, len(value), ", ".join(type(part).__name__ for part in value))
    if isinstance(value, dict):
        return "a dict with %s" % (", ".join(map(str, value)) or "nothing in it")
    if isinstance(value, torch.Tensor):
        return "a tensor of the shape %s" % (tuple(value.shape),)
    return "None" if value is None else "a %s" % type(value).__name__
