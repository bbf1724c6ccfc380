"""What this Python can do, and what a model is: one question and one answer, before any trial.

The answer's fields are those of ProbeAnswer on the other side. Whatever fails is said in its field error. What is known before
the model's code runs is said before, since that code may end the process.
"""

import platform
import sys


def answer(request):
    """The whole answer to a request."""
    return list(answers(request))[-1]


def answers(request, find_modules=lambda: None):
    """Gives the answer to a request, a dict with the fields of a trial's work, and device: again and again while the model is
    looked at, and in the end the whole. It raises nothing. find_modules makes the user's modules known, once torch is there."""
    found = {"torch": "", "versions": {}, "cuda_available": False, "device": request.get("device") or "", "devices": [], "model": None}
    found.update({"precisions": {}, "predicts": False, "unpredicted": "", "stage": "", "error": None})
    try:
        import torch
    except BaseException as error:  # a broken installation may raise anything, SystemExit too
        found["error"] = {"type": type(error).__name__, "text": "%s: %s" % (type(error).__name__, error)}
        yield found
        return
    found["torch"] = torch.__version__
    for part in (_torch, _prediction):
        try:
            found.update(part(request, found))
        except _ANY as error:
            found["error"] = found["error"] or _failure(error)
    try:
        for stage in _model(request, found, find_modules):
            found["stage"] = stage
            yield dict(found, versions=_versions())
        found["stage"] = ""
    except _ANY as error:
        found["error"] = found["error"] or _failure(error)
    found["versions"] = _versions()
    yield found


# What a user's code may raise.
_ANY = (Exception, SystemExit, KeyboardInterrupt)


def _failure(error):
    from autotune_worker import errors, traceback_text

    if isinstance(error, errors.WorkerError):
        return dict(error.fields(), type=error.failed_type, text=str(error))
    failed = {"type": type(error).__name__, "text": traceback_text.of(error)}
    if isinstance(error, ModuleNotFoundError) and error.name and "." not in error.name:
        failed["missing"] = error.name
    return failed


def _torch(request, _):
    """The devices, and the precisions of the one that is asked for."""
    import torch

    from autotune_worker import precision

    available = torch.cuda.is_available()
    name = request.get("device") or ("cuda" if available else "cpu")
    found = {"cuda_available": available, "device": name}
    if available:
        found["devices"] = [_device(index) for index in range(torch.cuda.device_count())]
    if available or name == "cpu":
        found["precisions"] = precision.probe(torch.device(name))
    return found


def _device(index):
    import torch

    properties = torch.cuda.get_device_properties(index)
    free, total = torch.cuda.mem_get_info(index)
    return {
        "index": index,
        "name": properties.name,
        "total_bytes": total,
        "free_bytes": free,
        "capability": "%d.%d" % (properties.major, properties.minor),
        "uuid": str(getattr(properties, "uuid", "")),
    }


def _prediction(_request, _found):
    from autotune_worker import predict

    predicts, why = predict.available()
    return {"predicts": predicts, "unpredicted": why}


def _model(request, found, find_modules):
    """Builds the model for passes of one sample and looks at it. Gives its stages (ProbeAnswer.Stage), each before it begins;
    none where no model is asked for, or where there is no such device."""
    if not request.get("model") or not (found["device"] == "cpu" or found["cuda_available"]):
        return
    import torch

    from autotune_worker import knobs, task

    find_modules()
    if not request.get("graph"):
        yield "import"
        _import(request["model"])
    yield "build"
    built = task.build(request, 1, torch.device(found["device"]), request.get("precision") or "fp32")
    facts = built.facts
    if not facts:
        yield "batch"
        facts = _facts_of(next(built.batches))
    facts = dict({"classes": 0, "input_shape": [], "sample_unit": "sample"}, **facts)
    facts.update(
        parameters=sum(p.numel() for p in built.model.parameters() if p.requires_grad),
        batch_norm=any(isinstance(module, torch.nn.modules.batchnorm._BatchNorm) for module in built.model.modules()),
        own_optimizer=built.own_optimizer,
        modules=knobs.names(built.model),
    )
    found["model"] = facts


def _import(name):
    """Imports the file or the package of a model's name, which build finds imported then."""
    from autotune_worker import adapter, packages, task

    if task.is_adapter(name):
        adapter.load(name)
    elif ":" in name:
        packages.load(name.partition(":")[0], name)


def _facts_of(batch):
    """What the first tensor of a user's batch says of a sample."""
    from autotune_worker import nested

    first = next((tensor for tensor in nested.tensors(batch) if tensor.dim() > 0), None)
    if first is None:
        return {}
    shape = list(first.shape[1:])
    unit = "image" if len(shape) == 3 else "sequence" if len(shape) == 1 and not first.is_floating_point() else "sample"
    return {"input_shape": shape, "sample_unit": unit}


def _versions():
    """The versions of Python and of all that trains."""
    import torch

    found = {"python": platform.python_version(), "torch": torch.__version__}
    if torch.version.cuda and torch.cuda.is_available():
        found["cuda"] = torch.version.cuda
        found["cudnn"] = str(torch.backends.cudnn.version())
    for name in ("torchvision", "timm", "transformers"):
        if name in sys.modules and hasattr(sys.modules[name], "__version__"):
            found[name] = sys.modules[name].__version__
    return found
