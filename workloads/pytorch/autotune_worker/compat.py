"""The names that moved between torch 1.13 and 2.15. No other file asks for a version."""

import torch

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
    """A loss scaler for fp16. torch.amp.GradScaler is new in 2.3; before, it was torch.cuda.amp's alone."""
    if hasattr(torch.amp, "GradScaler"):
        return torch.amp.GradScaler(device_type)
    return torch.cuda.amp.GradScaler()
