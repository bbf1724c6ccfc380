"""Memory without running: two optimizer steps with fake tensors, at two sizes, give the peak of every size.

Fake tensors go through the code of real steps, and the ledger that counts real storages counts theirs.
"""

import gc
import itertools
import os
import time
import traceback

import torch

from autotune_worker import compat, fake, knobs, room, steps, storage, timeline
from autotune_worker import device as devices
from autotune_worker.errors import Unsupported
from autotune_worker.precision import Precision

# The sizes of the two passes. Where their events differ, as where a small size takes another path, the next pair is tried.
# A difference that is a power of two keeps the lines exact.
_SIZES = ((16, 32), (64, 128))

# The optimizer's state is made in the first step, and is there in all of the second.
_STEPS = 2

# Storages that are made in these phases and outlive them are the batch and what the backward pass needs.
_KEEPING = ("build", "forward")

# CUDA's caching allocator gives out multiples of so many bytes (c10/cuda/CUDACachingAllocator.h, kMinBlockSize).
_CUDA_BLOCK = 512


def available():
    """Says whether this torch can predict, and why not, as a clause (empty where it can)."""
    if compat.version() < (2, 0):
        return False, "prediction needs torch 2.x; this is %s, whose fake tensors cannot be trained" % torch.__version__
    return True, ""


def answer(message, place):
    """Answers a predict message, a dict, for a torch.device: gives the fields of predicted."""
    begun = time.perf_counter()
    usable, why = available()
    if not usable:
        raise Unsupported(why)
    if "compile=on" in message.get("knobs", "").split(","):
        raise Unsupported("compile=on: memory cannot be predicted, since what compiled code allocates is known only when it runs")
    free = room.of(place)
    sizes = message.get("micro_batches") or []
    lines, parts = predict(message, place, sizes)
    return {
        "counter": "allocated" if place.type == "cuda" else "tensors",
        "lines": [{"fixed_bytes": fixed, "bytes_per_sample": per_sample} for fixed, per_sample in lines],
        "splits": [_split(*split) for split in zip(sizes, parts)],
        "room_bytes": free,
        "seconds": time.perf_counter() - begun,
    }


def predict(work, place, sizes):
    """Gives the lines (fixed bytes, bytes per sample) that give the peak of every size, and the parts of the peak of each of some sizes."""
    for pair in _SIZES:
        logs = [run(work, size, place) for size in pair]
        try:
            memory = timeline.Timeline.between(*logs)
        except timeline.Different:
            continue
        return memory.lines(), [memory.split(size) for size in sizes]
    # Training does not do the same at every size. The peak is near to a straight line all the same, that through the peaks
    # of the last two sizes; what holds it is taken from passes of the sizes themselves.
    lines = [timeline.line(*[(log.size, log.peak()) for log in logs])]
    return lines, [timeline.Timeline.at(run(work, size, place)).split(size) for size in sizes]


def run(work, micro_batch, place):
    """Trains with fakes and gives the log of what was allocated."""
    from torch._subclasses import fake_tensor  # what is imported here is not in torch 1.13

    try:
        return _run(work, micro_batch, place, fake_tensor.FakeTensorMode(allow_non_fake_inputs=True))
    except (fake_tensor.DataDependentOutputException, fake_tensor.DynamicOutputShapeException) as error:
        why = "%s looks at values of tensors (%s), and fake ones have none" % (_place(error), error.func)
    raise Unsupported(why)


def _run(work, micro_batch, place, fake_mode):
    sketch = fake.sketch(work, micro_batch, work["precision"])
    knobs.apply(_without_allocator(work.get("knobs", "")), sketch.task, torch.device("cpu"))
    ledger = storage.Ledger(device_type=place.type, log=True)
    became = {}
    with _no_collections(), fake_mode, ledger:
        ledger.phase = "build"
        task = sketch.fake(place)
        _mark(became, ledger, timeline.PARAMETERS, itertools.chain(task.model.parameters(), task.model.buffers()))
        task.optimizer.register_step_pre_hook(lambda *_: _mark(became, ledger, timeline.GRADIENTS, _gradients(task.model)))
        stepper = steps.Stepper(task, _device(place), _precision(work, place), micro_batch, work["accumulation_steps"], ledger)
        for _ in range(_STEPS):
            stepper.step()
            _mark(became, ledger, timeline.OPTIMIZER_STATE, fake.state(task.optimizer))
    nothing = knobs.changed_nothing(task)
    if nothing:
        raise Unsupported(nothing)
    return timeline.Log(micro_batch, ledger.events, became, _KEEPING, _CUDA_BLOCK if place.type == "cuda" else 1)


def _place(error):
    """The last line of an error's traceback that is neither torch's nor this package's."""
    others = tuple(os.path.dirname(os.path.abspath(file)) + os.sep for file in (__file__, torch.__file__))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(others)]
    return "%s, line %d," % (frames[-1].filename, frames[-1].lineno) if frames else "training"


def _without_allocator(text):
    """The knobs that change what is allocated, and not how."""
    return ",".join(part for part in text.split(",") if not part.startswith("expandable="))


class _no_collections:
    """A context without Python's collections, which would end storages at another moment in each pass."""

    def __enter__(self):
        self._enabled = gc.isenabled()
        gc.disable()

    def __exit__(self, *_):
        if self._enabled:
            gc.enable()


def _device(place):
    return devices.CudaDevice(place) if place.type == "cuda" else devices.CpuDevice()


def _precision(work, place):
    """The precision without a loss scaler, which looks at values; its tensors are of a few bytes."""
    precision = Precision(work["precision"], place.type)
    precision.scaler = None
    return precision


def _gradients(model):
    return [parameter.grad for parameter in model.parameters() if parameter.grad is not None]


def _mark(became, ledger, kind, tensors):
    """Notes what the storages of some tensors are."""
    for tensor in tensors:
        became.setdefault(ledger.serial(tensor), kind)


def _split(size, parts):
    """The message's form of the parts of a peak."""
    split = {kind + "_bytes": bytes_ for kind, bytes_ in parts.items()}
    return dict(split, micro_batch=size, peak_bytes=sum(parts.values()))
