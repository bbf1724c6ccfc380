"""The samples of the built-in models: images of patterns, and sequences of tokens (docs/models.md)."""

import torch

from autotune_worker import stream

# The least number of samples in a pool. Above half of it, the pool holds two micro-batches.
LEAST = 64

# Samples are made in groups of about this many values.
_GROUP = 1 << 17


def size(micro_batch):
    """The number of samples in the pool of a micro-batch size."""
    return max(LEAST, 2 * micro_batch)


def make(graph, seed, samples, dtype):
    """Makes the first samples of a graph's data: inputs (samples, sample's shape), and targets, a class each or one per token."""
    if graph["vocabulary"] > 0:
        return _sequences(graph, seed, samples)
    return _images(graph, seed, samples, dtype)


def empty(graph, samples, dtype):
    """Inputs and targets as make gives them, without values."""
    shape = [samples] + graph["input_shape"]
    if graph["vocabulary"] > 0:
        return torch.empty(shape, dtype=torch.int64), torch.empty(shape, dtype=torch.int64)
    return torch.empty(shape, dtype=dtype), torch.empty(samples, dtype=torch.int64)


def passes(inputs, targets, micro_batch, pinned):
    """Gives copies of the next micro_batch samples without end, and begins again at the pool's end.

    pinned puts them in memory that a GPU can read while the CPU goes on.
    """
    at = 0
    while True:
        batch = _next(inputs, targets, at, micro_batch)
        yield tuple(part.pin_memory() for part in batch) if pinned else batch
        at = (at + micro_batch) % inputs.shape[0]


def _next(inputs, targets, at, micro_batch):
    places = torch.arange(at, at + micro_batch).remainder_(inputs.shape[0])
    return inputs[places], targets[places]


def _images(graph, seed, samples, dtype):
    channels, height, width = graph["input_shape"]
    pixels = channels * height * width
    inputs = torch.empty(samples, channels, height, width, dtype=dtype)
    targets = torch.empty(samples, dtype=torch.int64)
    patterns = {}
    places = torch.arange(pixels + 1)
    group = max(1, _GROUP // pixels)
    for at in range(0, samples, group):
        count = min(group, samples - at)
        word = stream.words(_states(seed, at, count), places)
        classes = stream.below(word[:, 0], graph["classes"])
        for c in classes.tolist():
            if c not in patterns:
                patterns[c] = _pattern(seed, c, channels, height, width)
        noise = stream.normal(word[:, 1:]).view(count, channels, height, width)
        fields = torch.stack([patterns[c] for c in classes.tolist()])
        # The same order of operations as in the other engine, so that the values are equal to the last bit.
        inputs[at : at + count] = noise.add_(fields).mul_(2.0**0.5).div_(2)
        targets[at : at + count] = classes
    return inputs, targets


def _pattern(seed, c, channels, height, width):
    """The pattern of a class: 4x4 fields per channel, spread over the image."""
    fields = stream.normal(stream.words(stream.state(seed, "data.class.%d" % c), torch.arange(channels * 16)))
    rows = torch.arange(height) * 4 // height
    columns = torch.arange(width) * 4 // width
    return fields.view(channels, 4, 4)[:, rows][:, :, columns]


def _sequences(graph, seed, samples):
    """All samples at once, token by token: how many words a token takes depends on the words."""
    tokens, vocabulary = graph["input_shape"][0], graph["vocabulary"]
    states, at = _states(seed, 0, samples), torch.zeros(samples, 1, dtype=torch.int64)
    token = stream.below(stream.words(states, at), vocabulary)
    row = [token]
    for _ in range(tokens):
        random = stream.below(stream.words(states, at + 1), 8) == 0
        drawn = stream.below(stream.words(states, at + 2), vocabulary)
        token = torch.where(random, drawn, (token * 5 + 17) % vocabulary)
        at = at + 1 + random.long()
        row.append(token)
    row = torch.cat(row, 1)
    return row[:, :-1].contiguous(), row[:, 1:].contiguous()


def _states(seed, first, count):
    """The streams of neighbouring samples, one a row."""
    return torch.tensor([stream.state(seed, "data.sample.%d" % (first + i)) for i in range(count)]).view(count, 1)
