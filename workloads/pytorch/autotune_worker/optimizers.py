"""The optimizers that can be asked for: sgd, momentum, adam and adamw."""

import torch

from autotune_worker.errors import Unsupported

MOMENTUM = 0.9

# The rate of adam and adamw for the built-in models (Kingma and Ba, arXiv 1412.6980, section 2).
_ADAM_RATE = 1e-3

# The usual rates for other models, and no weight decay.
_USUAL_RATE = {"sgd": 0.01, "momentum": 0.01, "adam": 1e-3, "adamw": 1e-3}


def for_graph(name, decaying, others, recipe, samples):
    """The optimizer of a built-in model by its recipe, for steps of so many samples.

    The recipe's weight decay holds for the parameters in decaying alone. Below the recipe's global batch the rate falls
    in proportion (docs/models.md).
    """
    rate = _ADAM_RATE if name in ("adam", "adamw") else recipe["learning_rate"]
    rate *= min(1.0, samples / recipe["global_batch"])
    groups = [{"params": decaying, "weight_decay": recipe["weight_decay"]}, {"params": others, "weight_decay": 0.0}]
    return _make(name, [group for group in groups if group["params"]], rate)


def usual(name, model):
    """The optimizer of any other model, with torch's usual rate and without weight decay, over the parameters that are trained."""
    if name not in _USUAL_RATE:
        raise _unknown(name)
    return _make(name, [p for p in model.parameters() if p.requires_grad], _USUAL_RATE[name])


def _make(name, params, rate):
    if name == "sgd":
        return torch.optim.SGD(params, lr=rate)
    if name == "momentum":
        return torch.optim.SGD(params, lr=rate, momentum=MOMENTUM)
    if name == "adam":
        return torch.optim.Adam(params, lr=rate)
    if name == "adamw":
        return torch.optim.AdamW(params, lr=rate, weight_decay=0.0)
    raise _unknown(name)


def _unknown(name):
    return Unsupported("optimizer %r: this engine has sgd, momentum, adam and adamw" % name)
