"""Knobs: the same losses with less memory, blocks that are found, and what is said of a knob that changes nothing."""

import os
import unittest
from unittest import mock

import torch
from torch import nn

import graphs
from autotune_worker import knobs, storage, task
from autotune_worker.errors import Unsupported

torch.set_num_threads(1)  # other tests run beside

CPU, CUDA = torch.device("cpu"), torch.device("cuda")


def build(description, knob, precision="fp32", micro_batch=16):
    built = task.build(graphs.work(description, precision=precision), micro_batch, CPU, precision)
    knobs.apply(knob, built, CPU)
    return built


def train(description, knob, precision="fp32"):
    """Three steps: the losses, the peak of tensors, and what is said of knobs afterwards."""
    losses = []
    with storage.Ledger() as ledger:
        built = build(description, knob, precision)
        for _ in range(3):
            built.optimizer.zero_grad(set_to_none=True)
            loss = built.loss(built.model, next(built.batches))
            loss.backward()
            built.optimizer.step()
            losses.append(loss.item())
    return losses, ledger.peak, knobs.changed_nothing(built)


class Block(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.inner = nn.Sequential(nn.Sequential(nn.Linear(width, width), nn.ReLU()), nn.Sequential(nn.Linear(width, width), nn.ReLU()))

    def forward(self, x, scale=1.0):
        return x + scale * self.inner(x)


class Stack(nn.Module):
    """Blocks in a list, each called with an argument by name; it gives a tuple."""

    def __init__(self, blocks=3):
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(blocks))
        self.unused = nn.Sequential(nn.Linear(4, 4))
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        for block in self.blocks:
            x = block(x, scale=0.5)
        return self.head(x)


class CheckpointingTest(unittest.TestCase):
    def test_losses_are_equal_and_the_peak_is_lower(self):
        for description, named in ((graphs.residual(blocks=8), "layer1"), (graphs.transformer(blocks=6), "h")):
            plain, peak, _ = train(description, "")
            for knob in ("checkpointing=on", "checkpointing=" + named):
                losses, lower, said = train(description, knob)
                self.assertEqual(losses, plain)
                self.assertLess(lower, 0.7 * peak, knob)
                self.assertEqual(said, "")

    def test_double_precision(self):
        self.assertEqual(train(graphs.transformer(), "checkpointing=on", "fp64")[0], train(graphs.transformer(), "", "fp64")[0])

    def test_blocks_are_found(self):
        self.assertEqual(knobs.blocks(Stack()), ["blocks.0", "blocks.1", "blocks.2"])
        self.assertEqual(knobs.blocks(nn.Sequential(nn.Sequential(Block(), Block()), nn.Sequential(Block()))), ["0.0", "0.1", "1.0"])
        self.assertEqual(knobs.blocks(build(graphs.residual(), "").model), ["layer1.0", "layer1.1"])
        self.assertEqual(knobs.blocks(build(graphs.transformer(), "").model), ["h.0", "h.1"])
        stages = nn.Sequential(Stack(2), Stack(1))
        self.assertEqual(knobs.blocks(stages), ["0.blocks.0", "0.blocks.1", "1.blocks.0"])
        encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8), 2)
        self.assertEqual(knobs.blocks(encoder), ["layers.0", "layers.1"])
        two = nn.Sequential(nn.Sequential(nn.Linear(2, 2), nn.ReLU()), nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
        self.assertEqual(knobs.blocks(two), ["0", "1"])
        self.assertEqual(knobs.blocks(nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))), [])  # one operation keeps its input anyway
        self.assertEqual(knobs.blocks(Stack(1)), [])  # one block is not repeated

    def test_arguments_by_name(self):
        built = task.Task(Stack(), None, None, None, None)
        x = torch.randn(2, 4)
        want = built.model(x)
        knobs.apply("checkpointing=on", built, CPU)
        got = built.model(x)
        got.sum().backward()
        self.assertTrue(torch.equal(got, want))
        self.assertTrue(all(p.grad is not None for p in built.model.blocks.parameters()))
        with torch.no_grad():
            self.assertTrue(torch.equal(built.model(x), want))

    def test_running_statistics_move_twice(self):
        norms = []
        for knob in ("", "checkpointing=on"):
            built = build(graphs.residual(), knob)
            built.loss(built.model, next(built.batches)).backward()
            norms.append(built.model.layer("layer1.0.bn1").num_batches_tracked.item())
        self.assertEqual(norms, [1, 2])

    def test_what_would_change_nothing(self):
        for model, knob, parts in (
            (nn.Linear(2, 2), "checkpointing=on", ("no repeated blocks", "It has no modules that could be named")),
            (
                Stack(1),
                "checkpointing=blocks.1",
                ("no module 'blocks.1'; did you mean blocks.0", "Modules that can be named: blocks, blocks.0, "),
            ),
            (Stack(), "checkpointing=", ("no module ''. Modules", "blocks.0, blocks.1, blocks.2")),
        ):
            with self.assertRaises(Unsupported) as caught:
                knobs.apply(knob, task.Task(model, None, None, None, None), CPU)
            for part in parts:
                self.assertIn(part, str(caught.exception))

    def test_what_changed_nothing(self):
        built = task.Task(Stack(), None, None, None, None)
        knobs.apply("checkpointing=unused", built, CPU)
        built.model(torch.ones(2, 4)).sum().backward()
        self.assertIn("checkpointing=unused changed nothing", knobs.changed_nothing(built))
        knobs.apply("", built, CPU)
        self.assertEqual(knobs.changed_nothing(built), "")

    def test_models_of_transformers_keep_no_cache(self):
        built = task.Task(Stack(), None, None, None, None)
        built.model.config = mock.Mock(use_cache=True)
        knobs.apply("checkpointing=on", built, CPU)
        self.assertIs(built.model.config.use_cache, False)


class CompileTest(unittest.TestCase):
    def test_the_compiler_is_asked(self):
        if not hasattr(torch, "compile"):
            with self.assertRaisesRegex(Unsupported, "torch %s.* has no torch.compile" % torch.__version__.split("a")[0]):
                build(graphs.residual(), "compile=on")
            return
        # The compiler itself takes a minute of C++: a back end that runs the graph as it is stands for it.
        compiler = torch.compile
        with mock.patch.object(torch, "compile", lambda model: compiler(model, backend="eager")):
            built = build(graphs.residual(), "compile=on", "fp64")
            plain = build(graphs.residual(), "", "fp64")
            self.assertIn("changed nothing", knobs.changed_nothing(built))
            losses = [b.loss(b.model, next(b.batches)).item() for b in (built, plain)]
        self.assertAlmostEqual(losses[0], losses[1], 12)
        self.assertEqual(knobs.changed_nothing(built), "")

    @unittest.skipUnless(hasattr(torch, "compile"), "torch has no torch.compile")
    def test_a_python_that_is_too_new(self):
        with mock.patch.object(torch, "compile", side_effect=RuntimeError("not supported on Python 3.99")):
            with self.assertRaisesRegex(Unsupported, "compile=on: not supported on Python 3.99"):
                build(graphs.residual(), "compile=on")


class ExpandableTest(unittest.TestCase):
    def tearDown(self):
        knobs._Allocator.expandable = False

    def apply(self, knob, device=CUDA):
        built = task.Task(Stack(), None, None, None, None)
        knobs.apply(knob, built, device)
        return built

    def test_on_the_cpu(self):
        with self.assertRaisesRegex(Unsupported, "the CPU allocator has none"):
            self.apply("expandable=on", CPU)

    def test_set_and_set_back(self):
        with mock.patch.object(knobs.compat, "set_allocator_settings") as settings, mock.patch.dict(os.environ, clear=True):
            built = self.apply("expandable=on")
            self.apply("")
            self.apply("")
        self.assertEqual([call.args[0] for call in settings.call_args_list], ["expandable_segments:True", "expandable_segments:False"])
        for segments, said in (([{"is_expandable": False}], "made no expandable segment"), ([{"is_expandable": True}], "")):
            with mock.patch.object(torch.cuda, "memory_snapshot", return_value=segments):
                self.assertIn(said, knobs.changed_nothing(built))

    def test_where_they_are_on_already(self):
        with mock.patch.dict(os.environ, {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}):
            with self.assertRaisesRegex(Unsupported, "PYTORCH_CUDA_ALLOC_CONF"):
                self.apply("expandable=on")

    def test_where_torch_has_none(self):
        with mock.patch.object(knobs.compat, "set_allocator_settings", side_effect=RuntimeError("Unrecognized option")):
            with mock.patch.dict(os.environ, clear=True), self.assertRaisesRegex(Unsupported, "torch .*: Unrecognized option"):
                self.apply("expandable=on")


class NamesTest(unittest.TestCase):
    def test_unknown(self):
        for knob, text in (("foo=on", "'foo': this engine has checkpointing"), ("compile=max", "compile=max: it can be on alone")):
            with self.assertRaisesRegex(Unsupported, text):
                knobs.apply(knob, task.Task(Stack(), None, None, None, None), CPU)

    def test_names_that_can_be_given(self):
        self.assertEqual(knobs.names(Stack())[:4], ["blocks.0", "blocks.1", "blocks.2", "blocks"])
        self.assertIn("blocks.0.inner", knobs.names(Stack()))


if __name__ == "__main__":
    unittest.main()
