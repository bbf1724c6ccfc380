"""What a model gives, as a loss: the rule for models whose own training the worker does not know.

1. An output with a loss of its own (attribute or key "loss", as in transformers) is trained on that.
2. The first tensor is the prediction: of a dict or an object the one named logits or out, else the first there is.
   (batch, classes) and (batch, classes, height, width) are classes on the second axis, (batch, tokens, classes) on the
   last; the loss is the mean cross-entropy. All other shapes are numbers, and the loss is their mean square.
3. Further tensors of the same shape are auxiliary heads, as those of GoogLeNet, Inception and of segmentation. The
   loss of each is added with a weight of 0.4, that of Inception in torchvision's reference training.
"""

import torch
from torch.nn import functional

_AUXILIARY_WEIGHT = 0.4


def own_loss(output):
    """The loss that an output carries; None where it has none."""
    value = output.get("loss") if isinstance(output, dict) else getattr(output, "loss", None)
    return value if isinstance(value, torch.Tensor) and value.numel() == 1 else None


def predictions(output):
    """The tensors of an output, the prediction first."""
    if isinstance(output, torch.Tensor):
        return [output]
    if isinstance(output, (tuple, list)):
        return [tensor for part in output for tensor in predictions(part)]
    named = dict(output) if hasattr(output, "keys") else dict(getattr(output, "__dict__", {}))
    first = [name for name in ("logits", "out") if name in named]
    return [tensor for name in first + [n for n in named if n not in first] for tensor in predictions(named[name])]


def classes_axis(shape):
    """The axis of the classes in a prediction's shape; None: it is numbers."""
    if len(shape) == 3:
        return 2
    if len(shape) >= 2 and shape[1] > 1:
        return 1
    return None


def target_shape(shape):
    """The shape of the classes to predict, for a prediction of the given shape, the batch included."""
    axis = classes_axis(shape)
    return tuple(side for i, side in enumerate(shape) if i != axis)


def loss(output, targets):
    """The mean loss of an output; targets are classes, or None where the model carries its own loss or gives numbers."""
    own = own_loss(output)
    if own is not None:
        return own
    first, *others = predictions(output)
    total = _one(first, targets)
    for other in others:
        if other.shape == first.shape:
            total = total + _AUXILIARY_WEIGHT * _one(other, targets)
    return total


def _one(prediction, targets):
    axis = classes_axis(prediction.shape)
    if axis is None:
        return prediction.float().pow(2).mean() if prediction.dtype != torch.float64 else prediction.pow(2).mean()
    if axis == 2:
        return functional.cross_entropy(prediction.flatten(0, 1), targets.flatten())
    return functional.cross_entropy(prediction, targets)
