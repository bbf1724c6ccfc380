"""The limit on the bytes of tensors is exact: with a peak of P a limit of P runs and P - 1 fails, for trials drawn at random."""

import gc
import os
import random
import unittest

import torch

import graphs
import nets  # noqa: F401 - models that are named below
import stubs
from autotune_worker import compat, device, memory, precision, trial

torch.set_num_threads(1)  # other tests run beside

CPU = device.CpuDevice()
MEMORY = memory.CpuMemory()
OUT_OF_MEMORY = compat.OutOfMemoryError.__module__ + ".OutOfMemoryError"
NO_LIMIT = 1 << 40  # tensors are counted under a limit alone
OWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "own.py")


def residual(drawn):
    size = {"blocks": drawn.randint(2, 4), "side": drawn.randint(4, 12), "width": drawn.randint(2, 8)}
    return {"model": "residual %s" % size, "graph": graphs.residual(**size)}


def transformer(drawn):
    size = {"blocks": drawn.randint(2, 4), "tokens": drawn.randint(2, 12), "width": 4 * drawn.randint(1, 6)}
    return {"model": "transformer %s" % size, "graph": graphs.transformer(**size)}


def convolutional(drawn):
    side = drawn.randint(4, 16)
    return {"model": "nets:convolutional", "input_shape": [3, side, side], "options": {"classes": str(drawn.randint(2, 9))}}


def encoder(drawn):
    width = 4 * drawn.randint(1, 6)
    return {"model": "nets:Encoder", "input_shape": [drawn.randint(2, 12), width], "options": {"width": str(width), "layers": "3"}}


def own(drawn):
    return {"model": OWN + drawn.choice((":sgd", ":adam"))}


MODELS = (residual, transformer, convolutional, encoder, own)
PRECISIONS = [name for name, why in precision.probe(CPU.place).items() if not why and name in ("fp32", "fp64", "bf16")]


SEEDS = range(80, 90)  # they draw each model, optimizer and precision at least once, and checkpointing for half


def draw(seed):
    """The fields of a trial's message, drawn at random from a seed. The models take turns."""
    drawn = random.Random(seed)
    fields = {
        "seed": drawn.randint(0, 1 << 40),
        "optimizer": drawn.choice(("sgd", "momentum", "adam", "adamw")),
        "micro_batch": drawn.randint(1, 20),
        "accumulation_steps": drawn.randint(1, 4),
        "precision": drawn.choice(PRECISIONS),
        "knobs": drawn.choice(("", "checkpointing=on")),
    }
    return dict(MODELS[seed % len(MODELS)](drawn), **fields)


def run(fields, limit):
    """Runs a trial under a limit in bytes, and gives what it said."""
    wire = stubs.Wire()
    trial.run(stubs.message(limit_bytes=limit, steps=1, **fields), CPU, MEMORY, wire)
    return wire


def peak(wire):
    return wire.end["memory"]["peak_bytes"]["tensors"]


def error_types(fields):
    """The types that torch's out-of-memory error may come with; torch 1.13 wraps one from the second forward pass of checkpointing."""
    wrapped = compat.version() < (2, 0) and fields["knobs"]
    return (OUT_OF_MEMORY, "RuntimeError") if wrapped else (OUT_OF_MEMORY,)


class BorderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        run(draw(SEEDS[0]), NO_LIMIT)
        gc.freeze()  # as the worker does after its first trial: it makes each end of a trial faster
        cls.addClassCleanup(gc.unfreeze)

    def test_ten_trials_drawn_at_random(self):
        for seed in SEEDS:
            fields = draw(seed)
            with self.subTest("drawn from %d" % seed, **{name: value for name, value in fields.items() if name != "graph"}):
                self.border(fields)

    def border(self, fields):
        free = run(fields, NO_LIMIT)
        self.assertEqual(free.end["op"], "done", free.end)
        self.runs(fields, free)
        self.fails(fields, peak(free) - 1)
        self.runs(fields, free)

    def runs(self, fields, free):
        """With its peak as the limit a trial is what it was without one."""
        wire = run(fields, peak(free))
        self.assertEqual(wire.end["op"], "done", wire.end)
        self.assertEqual((peak(wire), wire.losses), (peak(free), free.losses))

    def fails(self, fields, limit):
        wire = run(fields, limit)
        self.assertEqual(wire.end["op"], "failed", wire.end)
        self.assertIn(wire.end["type"], error_types(fields), wire.end)
        self.assertRegex(wire.end["text"], r"DefaultCPUAllocator: can't allocate memory.*\(limit of autotune: %d bytes" % limit)
        self.assertEqual(wire.end["memory"]["after_bytes"]["tensors"], 0)


if __name__ == "__main__":
    unittest.main()
