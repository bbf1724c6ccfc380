"""Prints first losses and first gradients, as 64-bit little-endian numbers: of each graph the loss, then each parameter's gradient in order.

Its input is a JSON list of trials' works, each with micro_batch. Run it in the folder that autotune_worker lies in.
"""

import array
import json
import sys

sys.path.insert(0, ".")

import torch  # noqa: E402

from autotune_worker import graph, task  # noqa: E402


def first_pass(work):
    built = task.build(work, work["micro_batch"], torch.device("cpu"), work["precision"])
    loss = built.loss(built.model, next(built.batches))
    loss.backward()
    yield loss.item()
    for layer, _, tensor in graph.parameters(built.model, work["graph"]):
        yield from graph.as_described(layer, tensor.grad).double().flatten().tolist()


for work in json.load(sys.stdin):
    numbers = array.array("d", first_pass(work))
    if sys.byteorder == "big":
        numbers.byteswap()
    sys.stdout.buffer.write(numbers.tobytes())
