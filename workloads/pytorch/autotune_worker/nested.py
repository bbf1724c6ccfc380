"""Tensors within tuples, lists, dicts and objects: the shapes that batches have."""

import copy

import torch


def convert(change, batch):
    """Gives the batch with each tensor replaced by change(tensor); all else stays as it is.

    Objects with attributes are copied, one level deep, so that the loader's own batch is not changed.
    """
    if isinstance(batch, torch.Tensor):
        return change(batch)
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*[convert(change, part) for part in batch])
    if isinstance(batch, (tuple, list)):
        return type(batch)([convert(change, part) for part in batch])
    if hasattr(batch, "keys") and hasattr(batch, "__setitem__"):
        changed = copy.copy(batch)
        for key in list(batch.keys()):
            changed[key] = convert(change, batch[key])
        return changed
    if _has_tensors(batch):
        changed = copy.copy(batch)
        for name, part in vars(batch).items():
            setattr(changed, name, convert(change, part))
        return changed
    return batch


def tensors(batch):
    """Gives the tensors of a batch one after the other, in the order in which they are stored."""
    if isinstance(batch, torch.Tensor):
        yield batch
    elif isinstance(batch, (tuple, list)):
        for part in batch:
            yield from tensors(part)
    elif hasattr(batch, "keys") and hasattr(batch, "__getitem__"):
        for key in batch.keys():
            yield from tensors(batch[key])
    elif hasattr(batch, "__dict__") and not isinstance(batch, type):
        for part in vars(batch).values():
            if isinstance(part, torch.Tensor):
                yield part


def samples(batch):
    """The number of samples of a batch: the first side of its first tensor that has sides; 0 where there is none."""
    for tensor in tensors(batch):
        if tensor.dim() > 0:
            return tensor.shape[0]
    return 0


def double(tensor):
    """A tensor of real numbers as float64; others stay as they are."""
    return tensor.double() if tensor.is_floating_point() else tensor


def _has_tensors(batch):
    return hasattr(batch, "__dict__") and not isinstance(batch, type) and any(isinstance(part, torch.Tensor) for part in vars(batch).values())
