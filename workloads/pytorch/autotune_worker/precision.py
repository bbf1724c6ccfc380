"""Precisions: what each changes in a step, and whether a device can do it."""

import contextlib

import torch

from autotune_worker import compat, errors

NAMES = ("fp32", "tf32", "bf16", "fp16", "fp64")

_AUTOCAST = {"bf16": torch.bfloat16, "fp16": torch.float16}


class Precision:
    """A precision in use. bf16 and fp16 are mixed: autocast chooses the type of each operation, weights stay float32.

    kind is the device's: cpu or cuda. scaler is the loss scaler of fp16; None: the precision needs none. It starts anew
    with each Precision.
    """

    def __init__(self, name, kind):
        self.name = name
        self._kind = kind
        self._dtype = _AUTOCAST.get(name)
        self.scaler = compat.grad_scaler(kind) if name == "fp16" else None
        torch.backends.cuda.matmul.allow_tf32 = name == "tf32"
        torch.backends.cudnn.allow_tf32 = name == "tf32"

    def forward(self):
        """The context of the forward pass and the loss."""
        if self._dtype is None:
            return contextlib.nullcontext()
        return compat.autocast(self._kind, self._dtype)


def probe(place):
    """Tries one small step of each precision on a torch.device.

    Gives a dict by the precision's name: an empty text where it ran, else the text of what torch said.
    """
    return {name: _refusal(name, place) for name in NAMES}


def _refusal(name, place):
    try:
        _try(name, place)
    except compat.OutOfMemoryError:
        return ""  # a full device says nothing of what it can do
    except Exception as error:
        return str(error)
    return ""


def _try(name, place):
    if name == "tf32":
        _need_tf32(place)
    precision = Precision(name, place.type)
    dtype = torch.float64 if name == "fp64" else torch.float32
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Flatten(), torch.nn.Linear(8 * 6 * 6, 8)).to(place, dtype)
    with precision.forward():
        out = model(torch.ones(2, 3, 8, 8, device=place, dtype=dtype))
    wanted = _AUTOCAST.get(name, dtype)
    if out.dtype != wanted:
        raise errors.Unsupported("autocast on %s gave %s where %s was asked for" % (place.type, out.dtype, wanted))
    out.float().sum().backward()
    out.sum().item()


def _need_tf32(place):
    """TF32 is a mode of NVIDIA's tensor cores from compute capability 8.0 on (Ampere); without them torch runs fp32 and says nothing."""
    if place.type != "cuda":
        raise errors.Unsupported("tf32 is a mode of NVIDIA GPUs; the device is %s" % place.type)
    capability = torch.cuda.get_device_capability(place)
    if capability < (8, 0):
        raise errors.Unsupported("tf32 needs compute capability 8.0; the device has %d.%d" % capability)
