"""The names that moved between torch 1.13 and 2.15. No other file asks for a version."""

import sys

import torch

from autotune_worker import errors

# OutOfMemoryError is torch's own class for memory that could not be had, a RuntimeError.
# It has been torch.OutOfMemoryError since 2.5; before, it was torch.cuda's alone.
OutOfMemoryError = getattr(torch, "OutOfMemoryError", None) or torch.cuda.OutOfMemoryError


def version():
    """The two leading numbers of torch's version, such as (2, 15)."""
    parts = torch.__version__.split(".")
    return int(parts[0]), int(parts[1])


def untyped_storage(tensor):
    """The storage of a tensor, in bytes. Tensor.untyped_storage is new in 2.0."""
    if hasattr(tensor, "untyped_storage"):
        return tensor.untyped_storage()
    return tensor._storage().untyped()


def autocast(device_type, dtype):
    """The context in which torch chooses the type of each operation: dtype or float32."""
    return torch.autocast(device_type, dtype=dtype)


def grad_scaler(device_type):
    """A loss scaler for fp16. torch.amp.GradScaler is new in 2.3; before, there was one for CUDA alone."""
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler(device_type)
    if device_type == "cuda":
        return torch.cuda.amp.GradScaler()
    raise errors.Unsupported("torch %s has no loss scaler for %s, which fp16 needs; torch 2.3 has" % (torch.__version__, device_type))


def clear_cublas_workspaces():
    """Gives back what cuBLAS keeps in torch's allocator between two calls. torch has no public name for it."""
    clear = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
    if clear:
        clear()


def forget_compiled():
    """Lets go of what torch.compile, new in 2.0, keeps of compiled models."""
    compiler = sys.modules.get("torch._dynamo")
    if compiler:
        compiler.reset()


def set_allocator_settings(text):
    """Changes settings of the CUDA allocator while it runs. torch has no public name for it, and two private ones."""
    change = getattr(torch._C, "_accelerator_setAllocatorSettings", None) or getattr(torch.cuda.memory, "_set_allocator_settings", None)
    if change is None:
        raise AttributeError("it cannot change the allocator's settings while it runs")
    change(text)


def call(operation, args, kwargs):
    """Calls an operation that a dispatch mode sees. torch 1.13 hands over plain numbers where some operations take tensors alone."""
    if version() < (2, 0):
        places = operation._schema.arguments
        args = tuple(_tensor_of(arg) if str(place.type) == "Tensor" else arg for arg, place in zip(args, places))
    return operation(*args, **kwargs)


def _tensor_of(value):
    """A number as a tensor that does not change the type of a result."""
    if isinstance(value, float):
        return torch.tensor(value, dtype=torch.float64)
    return torch.tensor(value) if isinstance(value, (bool, int)) else value
