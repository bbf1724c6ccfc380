"""Finds out what a model takes and gives, from its modules and from a forward pass of one sample."""

import re

import torch
from torch import nn

from autotune_worker import outputs, storage
from autotune_worker.errors import Usage

# Sides of images that are tried where nothing says which one the model takes.
_SIDES = (28, 32, 64, 96, 128, 224, 299, 384)

# What torch says where a first layer takes another number of channels, or of features, than the sample has: groups are
# the shape that came, the batch of 1 included, and the number that the layer takes.
_CHANNELS = re.compile(r"expected input\[([\d, ]+)\] to have (\d+) channels")
_FEATURES = re.compile(r"shapes cannot be multiplied \((1x\d+) and (\d+)x\d+\)")

# Attributes that models keep the side of their images in.
_SIZE_NAMES = ("image_size", "img_size", "input_size")


class Form:
    """What a model takes and gives.

    input_shape: of one sample. vocabulary: the number of different tokens, 0: the input is real numbers.
    output_shape: of the prediction of one sample, the batch of 1 included; None: the model carries its own loss.
    """

    def __init__(self, input_shape, vocabulary, output_shape):
        self.input_shape = list(input_shape)
        self.vocabulary = vocabulary
        self.output_shape = output_shape

    @property
    def classes(self):
        """The number of classes; 0: the model gives numbers, or a loss of its own."""
        if self.output_shape is None:
            return 0
        axis = outputs.classes_axis(self.output_shape)
        return 0 if axis is None else self.output_shape[axis]

    @property
    def sample_unit(self):
        """What one sample is called."""
        return "sequence" if self.vocabulary else "image" if len(self.input_shape) == 3 else "sample"

    def batch(self, samples, generator):
        """Makes a batch at random: inputs, and the classes to predict; None for them where there are no classes."""
        shape = [samples] + self.input_shape
        if self.vocabulary:
            inputs = torch.randint(self.vocabulary, shape, generator=generator)
        else:
            inputs = torch.randn(shape, generator=generator)
        if not self.classes:
            return inputs, None
        target = (samples,) + outputs.target_shape(self.output_shape)[1:]
        return inputs, torch.randint(self.classes, target, generator=generator)

    def loss(self, model, batch):
        """The mean loss of a batch, by the rule of outputs.py."""
        inputs, targets = batch
        return outputs.loss(model(inputs), targets)

    def facts(self):
        """What a task knows of its model; see task.Task."""
        return {"input_shape": self.input_shape, "classes": self.classes, "sample_unit": self.sample_unit}


def find(model, name, given, suggested):
    """Gives the form of a model. given is --input's shape, suggested are shapes that the model's library names; both may be empty."""
    vocabulary = _vocabulary(model)
    shapes = [given] if given else suggested or _shapes(model, name)
    runs, failure = [], None
    for shape in shapes:
        output, error = _forward(model, shape, vocabulary)
        if error:
            failure = failure or (error, _taken(error, shape) or (3, 224, 224))
        else:
            runs.append(Form(shape, vocabulary, output))
    if len(runs) == 1:
        return runs[0]
    if runs:
        raise Usage(
            "--model %s: the size of its images cannot be known, it runs with %d of them, from %s to %s; give --input, such as %s"
            % (name, len(runs), _text(runs[0].input_shape), _text(runs[-1].input_shape), _flag(_usual(runs).input_shape))
        )
    tried = ", ".join(_text(shape) for shape in shapes)
    raise Usage(
        "--model %s: its forward pass does not run on one sample of %s: %s. Give --input, such as %s, or write an adapter: "
        "--model FILE.py:FUNCTION" % (name, tried, failure[0], _flag(failure[1]))
    )


def _taken(error, shape):
    """The shape that the first layer takes, where an error's text says that it takes another number than a sample of shape
    has on its first axis; else None. The text of a later layer has another shape than the sample's."""
    found = _CHANNELS.search(error) or _FEATURES.search(error)
    if found and [int(side) for side in re.findall(r"\d+", found.group(1))] == [1] + list(shape):
        return (int(found.group(2)),) + tuple(shape[1:])
    return None


def _usual(runs):
    """The form of images of 224x224, those of ImageNet, where it is one of several, else the last."""
    return next((form for form in runs if form.input_shape[-1] == 224), runs[-1])


def _first_layer(model):
    kinds = (nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Linear, nn.Embedding)
    return next((module for module in model.modules() if isinstance(module, kinds)), None)


def _vocabulary(model):
    first = _first_layer(model)
    return first.num_embeddings if isinstance(first, nn.Embedding) else 0


def _shapes(model, name):
    """The shapes of one sample that a model may take, from its first layer and from attributes that name a size."""
    first = _first_layer(model)
    if isinstance(first, nn.Linear):
        return [(first.in_features,)]
    if isinstance(first, nn.Conv2d):
        channels = first.in_channels
        for attribute in _SIZE_NAMES:
            sides = _sides(getattr(model, attribute, None))
            if sides:
                return [(channels,) + sides]
        return [(channels, side, side) for side in _SIDES]
    example = {nn.Conv1d: "--input 1,16000", nn.Conv3d: "--input 3,16,112,112", nn.Embedding: "--input 128"}.get(type(first), "--input 3,224,224")
    raise Usage("--model %s: the shape of its input cannot be known; give --input, such as %s" % (name, example))


def _sides(value):
    """Height and width of a size that is a number, a pair, or a triple with the channels first."""
    if isinstance(value, int):
        return (value, value)
    if isinstance(value, (tuple, list)) and len(value) in (2, 3) and all(isinstance(side, int) for side in value):
        return tuple(value[-2:])
    return None


def _forward(model, shape, vocabulary):
    """Runs one sample. Gives the shape of the prediction, None for a loss of the model's own, and the error's text, empty for none."""
    sample = torch.zeros(1, *shape, dtype=torch.int64 if vocabulary else _dtype(model))
    training = model.training
    model.eval()  # running statistics stay as they are
    text = ""
    try:
        with storage.uncounted(), torch.no_grad():
            output = model(sample)
    except Exception as error:  # whatever the model raises says that this shape is not its input
        text = str(error).strip().split("\n")[0]
    model.train(training)
    if text:
        return None, text
    if outputs.own_loss(output) is not None:
        return None, ""
    found = outputs.predictions(output)
    return (tuple(found[0].shape), "") if found else (None, "the output has no tensor")


def _dtype(model):
    return next((p.dtype for p in model.parameters() if p.is_floating_point()), torch.float32)


def _text(shape):
    return "x".join(str(side) for side in shape)


def _flag(shape):
    return "--input " + ",".join(str(side) for side in shape)
