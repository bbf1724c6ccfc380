import os
import tempfile
import textwrap
import unittest

import torch

import graphs
import nets  # noqa: F401 - the models that are named below
import stubs
from autotune_worker import device, fake, memory, precision, predict, room, timeline, trial
from autotune_worker.errors import Unsupported

CPU = torch.device("cpu")
CAN, WHY_NOT = predict.available()

CONV = {"model": "nets:convolutional", "input_shape": [3, 12, 12]}
ENCODER = {"model": "nets:Encoder", "input_shape": [10, 16]}
UNUSED = {"model": "nets:Unused", "input_shape": [8]}


def work(of, **fields):
    return stubs.message(**dict(of, **fields))


def measured(message, micro_batch):
    """The peak of real training."""
    wire = stubs.Wire()
    trial.run(dict(message, micro_batch=micro_batch, steps=1, limit_bytes=1 << 40), device.CpuDevice(), memory.CpuMemory(), wire)
    return wire.end["memory"]["peak_bytes"]["tensors"]


def at(lines, size):
    return max(line["fixed_bytes"] + line["bytes_per_sample"] * size for line in lines)


@unittest.skipUnless(CAN, WHY_NOT)
class PeakTest(unittest.TestCase):
    """The predicted peak against that of real training."""

    def equal(self, message, sizes=(4, 20), within=0.0):
        answer = predict.answer(dict(message, micro_batches=list(sizes)), CPU)
        self.assertEqual((answer["counter"], len(answer["splits"])), ("tensors", len(sizes)))
        for size, split in zip(sizes, answer["splits"]):
            real = measured(message, size)
            self.assertLessEqual(abs(at(answer["lines"], size) - real), within * real, (message["model"], size, real, answer))
            self.assertEqual(split["micro_batch"], size)
            self.assertEqual(split["peak_bytes"], round(at(answer["lines"], size)))
            self.assertEqual(sum(bytes_ for name, bytes_ in split.items() if name not in ("micro_batch", "peak_bytes")), split["peak_bytes"])

    def test_models_and_optimizers(self):
        for of, optimizer in ((CONV, "momentum"), (CONV, "adam"), (ENCODER, "adamw"), (UNUSED, "sgd"), (UNUSED, "adam")):
            with self.subTest(of["model"], optimizer=optimizer):
                self.equal(work(of, optimizer=optimizer))

    def test_built_in_graphs(self):
        for graph, optimizer in ((graphs.residual(), "momentum"), (graphs.transformer(), "adam")):
            with self.subTest(graph["vocabulary"]):
                self.equal(work({"graph": graph}, optimizer=optimizer), (4, 40))

    def test_accumulation(self):
        for of in (CONV, {"graph": graphs.transformer()}):
            with self.subTest(of.get("model")):
                self.equal(work(of, accumulation_steps=2), (8,))

    def test_precisions(self):
        can = [name for name, why in precision.probe(CPU).items() if not why and name != "fp32"]
        for name in can:
            for of in (CONV, ENCODER):
                with self.subTest(of["model"], precision=name):
                    # Fake batch normalisation keeps its statistics in the type of its input; a loss scaler takes a few bytes.
                    self.equal(work(of, precision=name), (8,), within=0 if name == "fp64" else 0.01)

    def test_checkpointing(self):
        for of, knob in ((CONV, "checkpointing=on"), ({"graph": graphs.residual()}, "checkpointing=layer1")):
            with self.subTest(of.get("model")):
                self.equal(work(of, knobs=knob), (32,))

    def test_a_file_of_the_user(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "own_training.py")
            with open(path, "w") as file:
                file.write(textwrap.dedent(OWN))
            self.equal(work({"model": path + ":build"}))

    def test_the_lines_are_those_of_passes_at_any_size(self):
        message = work(CONV, optimizer="adam")
        answer = predict.answer(message, CPU)
        for size in (1, 3, 50, 333, 100000):
            self.assertEqual(at(answer["lines"], size), predict.run(message, size, CPU).peak(), size)


# A training with a data set, an optimizer with a scheduler's look, and a loss of its own.
OWN = """
    import torch

    def build(micro_batch, precision):
        data = torch.utils.data.TensorDataset(torch.randn(100, 6), torch.randint(0, 3, (100,)))
        model = torch.nn.Sequential(torch.nn.Linear(6, 300), torch.nn.Tanh(), torch.nn.Linear(300, 3))
        optimizer = torch.optim.RMSprop(model.parameters(), momentum=0.5)
        loader = torch.utils.data.DataLoader(data, batch_size=micro_batch, shuffle=True, drop_last=True)
        return model, optimizer, loader, lambda model, batch: torch.nn.functional.cross_entropy(model(batch[0]), batch[1])
"""


@unittest.skipUnless(CAN, WHY_NOT)
class SplitTest(unittest.TestCase):
    def test_parts(self):
        message = work(CONV, optimizer="adam", micro_batches=[256])
        split = predict.answer(message, CPU)["splits"][0]
        model = nets.convolutional()
        weights = sum(4 * p.numel() for p in model.parameters())
        buffers = sum(b.element_size() * b.numel() for b in model.buffers())
        self.assertEqual(split["parameters_bytes"], weights + buffers)
        # Two moments, and a counter for each parameter.
        self.assertEqual(split["optimizer_state_bytes"], 2 * weights + 4 * len(list(model.parameters())))
        self.assertLessEqual(split["gradients_bytes"], weights)
        # At the least the batch and the outputs of the convolutions at full resolution and after the pooling.
        self.assertGreater(split["activations_bytes"], 4 * 256 * (3 * 12 * 12 + 16 * 12 * 12 + 3 * 16 * 6 * 6))

    def test_the_optimizer_phase_holds_all_gradients(self):
        split = predict.answer(work(UNUSED, micro_batches=[1]), CPU)["splits"][0]
        self.assertEqual(split["gradients_bytes"], 4 * (8 * 8 + 2 * 8))  # of the shared weight and two biases
        self.assertEqual(split["optimizer_state_bytes"], split["gradients_bytes"])


@unittest.skipUnless(CAN, WHY_NOT)
class SizesTest(unittest.TestCase):
    def test_larger_sizes_where_small_ones_differ(self):
        message = work({"model": "nets:Stepped", "input_shape": [8]}, micro_batches=[200])
        answer = predict.answer(message, CPU)
        self.assertEqual(at(answer["lines"], 200), measured(message, 200))

    def test_a_straight_line_where_all_differ(self):
        message = work({"model": "nets:Erratic", "input_shape": [8]}, micro_batches=[128])
        answer = predict.answer(message, CPU)
        self.assertEqual(len(answer["lines"]), 1)
        self.assertEqual(round(at(answer["lines"], 128)), predict.run(message, 128, CPU).peak())
        self.assertEqual(answer["splits"][0]["peak_bytes"], predict.run(message, 128, CPU).peak())


@unittest.skipUnless(CAN, WHY_NOT)
class FailureTest(unittest.TestCase):
    def test_a_model_that_looks_at_values(self):
        with self.assertRaisesRegex(Unsupported, r"nets.py, line \d+, looks at values"):
            predict.answer(work({"model": "nets:Looking", "input_shape": [8]}), CPU)

    def test_a_model_that_fails(self):
        with self.assertRaises(RuntimeError) as caught:
            predict.answer(work({"model": "nets:Failing", "input_shape": [8]}), CPU)
        failure = trial.describe(caught.exception, "predict")
        self.assertEqual((failure["type"], failure["phase"]), ("RuntimeError", "predict"))
        self.assertIn("in training", failure["text"])

    def test_a_traceback_has_the_users_lines_alone(self):
        """Those of torch, and of fake tensors above all, say nothing of the user's code."""
        text = ""
        try:
            predict.answer(work({"model": "nets:Mismatched", "input_shape": [8]}), CPU)
        except RuntimeError as error:
            text = trial.describe(error, "predict")["text"]
        files = [os.path.basename(line.split('"')[1]) for line in text.split("\n") if line.startswith("  File ")]
        self.assertEqual(files, ["test_predict.py", "nets.py"])

    def test_compile_is_unsupported(self):
        with self.assertRaisesRegex(Unsupported, "compile=on"):
            predict.answer(work(CONV, knobs="compile=on"), CPU)

    def test_a_knob_that_changes_nothing(self):
        with self.assertRaises(Unsupported):
            predict.answer(work(UNUSED, knobs="checkpointing=on"), CPU)

    def test_trials_go_on_after_it(self):
        with self.assertRaises(Unsupported):
            predict.answer(work({"model": "nets:Looking", "input_shape": [8]}), CPU)
        self.assertGreater(measured(work({"model": "nets:Looking", "input_shape": [8]}), 4), 0)


@unittest.skipUnless(CAN, WHY_NOT)
class CudaTest(unittest.TestCase):
    """Where there is no GPU, fakes of CUDA tensors run the forward pass alone."""

    def test_tensors_are_of_the_device(self):
        from torch._subclasses.fake_tensor import FakeTensorMode

        sketch = fake.sketch(work(CONV, optimizer="adam"), 4, "fp32")
        with FakeTensorMode(allow_non_fake_inputs=True):
            task = sketch.fake(torch.device("cuda", 0))
            self.assertEqual({t.device.type for t in fake.held(task)}, {"cuda"})
            self.assertEqual({group["foreach"] for group in task.optimizer.param_groups}, {True})
            batch = next(task.batches)
            self.assertEqual({t.device.type for t in batch}, {"cpu"})


@unittest.skipIf(CAN, "this torch can predict")
class OldTest(unittest.TestCase):
    def test_unsupported(self):
        with self.assertRaisesRegex(Unsupported, "torch 2"):
            predict.answer(work(CONV), CPU)


class RoomTest(unittest.TestCase):
    def test_it_can_be_had(self):
        free = room.of(CPU)
        self.assertGreater(free, 1 << 20)
        torch.empty(free // 2, dtype=torch.uint8)  # not written to


def log(size, events, became=None, block=1):
    return timeline.Log(size, events, became or {}, ("forward",), block)


class TimelineTest(unittest.TestCase):
    def events(self, size):
        return [
            ("alloc", 1, 100, "build"),
            ("alloc", 2, 10 * size, "forward"),
            ("alloc", 3, 30 * size, "forward"),
            ("free", 3, 30 * size, "forward"),
            ("alloc", 4, 500, "backward"),
            ("resize", 4, 700, "backward"),
            ("free", 2, 10 * size, "backward"),
            ("free", 4, 700, "backward"),
        ]

    def timeline(self, **changes):
        return timeline.Timeline.between(*[log(size, self.events(size), {1: timeline.PARAMETERS}, **changes) for size in (16, 32)])

    def test_lines(self):
        self.assertEqual(self.timeline().lines(), [(800.0, 10.0), (100.0, 40.0)])

    def test_split(self):
        self.assertEqual(
            [self.timeline().split(size) for size in (2, 1000)],
            [
                {"parameters": 100, "gradients": 0, "optimizer_state": 0, "activations": 20, "temporary": 700},
                {"parameters": 100, "gradients": 0, "optimizer_state": 0, "activations": 10000, "temporary": 30000},
            ],
        )

    def test_peak_of_one_log(self):
        self.assertEqual(log(3, self.events(3)).peak(), 830)
        self.assertEqual(timeline.Timeline.at(log(3, self.events(3))).lines(), [(830.0, 0.0)])

    def test_blocks_are_rounded_up(self):
        self.assertEqual(log(3, [("alloc", 1, 1, "")], block=512).peak(), 512)
        self.assertEqual(log(3, [("alloc", 1, 513, ""), ("alloc", 2, 512, "")], block=512).peak(), 1024 + 512)

    def test_different_events(self):
        with self.assertRaises(timeline.Different):
            timeline.Timeline.between(log(16, self.events(16)), log(32, self.events(32)[:-1]))

    def test_envelope(self):
        lines = [(0, 1), (5, 0), (3, 0.5), (-100, 2), (2, 1), (-1000, 1.5)]
        kept = timeline.envelope(lines)
        for size in range(1, 300):
            self.assertEqual(max(a + b * size for a, b in kept), max(a + b * size for a, b in lines))
        self.assertEqual(timeline.envelope([(7, 0), (7, 0)]), [(7, 0)])


if __name__ == "__main__":
    unittest.main()
