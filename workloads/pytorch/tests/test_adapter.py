"""A user's own file: what it gives, and what is said where it gives something else."""

import os
import sys
import tempfile
import textwrap
import unittest

import torch

from autotune_worker import adapter, nested, probe, storage, task, traceback_text
from autotune_worker.errors import Usage, WrongBatch

torch.set_num_threads(1)  # other tests run beside

CPU = torch.device("cpu")

GOOD = """
import torch
from torch.utils.data import DataLoader, TensorDataset

def build(micro_batch, precision):
    model = torch.nn.Sequential(torch.nn.Linear(4, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = TensorDataset(torch.randn(10, 4), torch.arange(10) % 3)
    batches = DataLoader(data, batch_size=micro_batch)
    return model, optimizer, batches, loss

def loss(model, batch):
    inputs, classes = batch
    return torch.nn.functional.cross_entropy(model(inputs), classes)
"""


class FileTest(unittest.TestCase):
    """Tests that write a user's file."""

    def setUp(self):
        self.addCleanup(adapter._modules.clear)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = list(sys.path)
        self.addCleanup(lambda: sys.path.__setitem__(slice(None), path))
        self.folder = folder.name

    def file(self, text, name="train.py"):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(textwrap.dedent(text))
        return path

    def build(self, name, micro_batch=4, precision="fp32"):
        return task.build({"model": name, "optimizer": "momentum", "seed": 1, "accumulation_steps": 1}, micro_batch, CPU, precision)


class AdapterTest(FileTest):
    def error(self, text, *parts, model=":build"):
        """Builds a file and takes a step; the error must name the parts."""
        adapter._modules.clear()
        with self.assertRaises(Usage) as caught:
            built = self.build(self.file(text) + model)
            built.loss(built.model, next(built.batches))
        for part in parts:
            self.assertIn(part, str(caught.exception))

    def test_a_loader_is_read_again_and_again(self):
        built = self.build(self.file(GOOD))
        self.assertTrue(built.own_optimizer)
        self.assertEqual([built.samples(next(built.batches)) for _ in range(7)], [4, 4, 2, 4, 4, 2, 4])
        loss = built.loss(built.model, next(built.batches))
        loss.backward()
        built.optimizer.step()
        self.assertEqual(loss.shape, ())

    def test_double_precision(self):
        built = self.build(self.file(GOOD), precision="fp64")
        inputs, classes = next(built.batches)
        self.assertEqual((inputs.dtype, classes.dtype), (torch.float64, torch.int64))
        self.assertIs(built.loss(built.model, (inputs, classes)).dtype, torch.float64)
        weights = {id(p) for p in built.model.parameters()}
        self.assertEqual({id(p) for g in built.optimizer.param_groups for p in g["params"]}, weights)

    def test_forms_of_what_is_returned(self):
        for returned in (
            "{'loss': l, 'model': m, 'optimizer': o, 'batches': b}",
            "types.SimpleNamespace(model=m, optimizer=o, batches=b, loss=l)",
            "collections.namedtuple('Parts', 'loss model batches optimizer')(l, m, b, o)",
            "[m, o, b, l]",
        ):
            text = """
                import collections, types, torch
                def build(micro_batch, precision):
                    m = torch.nn.Linear(2, 1)
                    o, b, l = torch.optim.SGD(m.parameters(), lr=0.1), [torch.ones(micro_batch, 2)], lambda model, batch: model(batch).mean()
                    return %s
            """
            built = self.build(self.file(text % returned, "form%d.py" % len(returned)))
            self.assertEqual(built.loss(built.model, next(built.batches)).numel(), 1)

    def test_the_file_is_named_without_a_function(self):
        self.assertEqual(adapter.split("a/train.py"), ("a/train.py", "build"))
        self.assertEqual(adapter.split("train.py:make"), ("train.py", "make"))
        self.assertIsInstance(self.build(self.file(GOOD)).model, torch.nn.Module)

    def test_device_and_keywords(self):
        text = """
            import torch
            def build(*, precision, device, micro_batch, width=3):
                m = torch.nn.Linear(width, 1, device=device)
                assert isinstance(device, torch.device) and precision == "fp32"
                return m, torch.optim.SGD(m.parameters(), lr=0.1), [torch.ones(micro_batch, width)], lambda m, b: m(b).mean()
            def keywords(**given):
                assert sorted(given) == ["micro_batch", "precision"], given
                return build(device=torch.device("cpu"), **given)
        """
        path = self.file(text)
        for function in ("build", "keywords"):
            self.assertEqual(next(self.build(path + ":" + function).batches).shape, (4, 3))

    def test_the_file_is_imported_once_and_finds_its_neighbours(self):
        self.file("COUNT = []", "beside.py")
        text = "import beside\nbeside.COUNT.append(1)\n" + GOOD
        path = self.file(text, "random.py")  # a name that Python's own library has
        self.build(path)
        self.build(path)
        self.assertEqual(sys.modules["beside"].COUNT, [1])
        import random

        self.assertTrue(hasattr(random, "shuffle"))

    def test_own_count_of_samples(self):
        text = """
            import torch
            def build(micro_batch, precision):
                m = torch.nn.Linear(2, 1)
                return {"model": m, "optimizer": torch.optim.SGD(m.parameters(), lr=0.1), "batches": [torch.ones(7 * micro_batch, 2)],
                        "loss": lambda m, b: m(b).mean(), "samples": lambda batch: len(batch) // 7}
        """
        built = self.build(self.file(text))
        self.assertEqual(built.samples(next(built.batches)), 4)

    def test_wrong_returns_are_named(self):
        start = """
            import torch
            def build(micro_batch, precision):
                m = torch.nn.Linear(2, 1)
                o, b = torch.optim.SGD(m.parameters(), lr=0.1), [torch.ones(micro_batch, 2)]
                l = lambda model, batch: model(batch).mean()
                return """
        self.error(start + "m, o", "a tuple of 2 (Linear, SGD)", "model, optimizer, batches, loss")
        self.error(start + "None", "None", "without model, optimizer, batches, loss")
        self.error(start + "{'model': m, 'loss': l}", "a dict with model, loss", "without optimizer, batches")
        self.error(start + "o, m, b, l", "model is a SGD, not a torch.nn.Module")
        self.error(start + "m, 'sgd', b, l", "optimizer is a str, not a torch.optim.Optimizer")
        self.error(start + "m, o, 5, l", "batches is a int, not an iterable")
        self.error(start + "m, o, b, torch.nn.MSELoss()", "loss is a MSELoss, not a function loss(model, batch)")
        self.error(start + "m, o, b, lambda model, batch: model(batch)", "a tensor of the shape (4, 1)", "one value")
        self.error(start + "m, o, b, lambda model, batch: 1.0", "a float", "one value")
        self.error(start + "torch.nn.Linear(2, 1), o, b, l", "none of the model's parameters")

    def test_wrong_names(self):
        with self.assertRaisesRegex(Usage, "no file nothere.py"):
            self.build("nothere.py:build")
        self.error(GOOD, "no function make; its functions are build, loss", model=":make")
        self.error("x = 1", "no function build; it has no functions", model="")
        self.error("def build(size): pass", "takes (size)", "called with micro_batch and precision")

    def test_most_of_what_is_trained_has_the_precision(self):
        double = GOOD.replace("return model, optimizer", "model.double()\n    return model, optimizer")
        with self.assertRaisesRegex(Usage, "parameters are float64 .such as .*weight.*precision fp32 trains float32"):
            self.build(self.file(double, "double.py"))
        self.build(self.file(double, "double.py"), precision="fp64")
        frozen = GOOD.replace(
            "return model, optimizer", "model.frozen = torch.nn.Linear(100, 100).double().requires_grad_(False)\n    return model, optimizer"
        )
        self.build(self.file(frozen, "frozen.py"))
        mixed = GOOD.replace("return model, optimizer", "model.more = torch.nn.Linear(100, 100).double()\n    return model, optimizer")
        with self.assertRaisesRegex(Usage, "float64 .such as more.weight"):
            self.build(self.file(mixed, "mixed.py"))

    def test_batches_that_end(self):
        text = GOOD.replace("batch_size=micro_batch", "batch_size=micro_batch, drop_last=True")
        with self.assertRaisesRegex(WrongBatch, "64 samples was asked for.*data set has 10 samples") as raised:
            next(self.build(self.file(text, "small.py"), micro_batch=64).batches)
        self.assertEqual(raised.exception.fields(), {"samples": 10})
        text = GOOD.replace("return model, optimizer, batches, loss", "return model, optimizer, iter([1, 2]), loss")
        batches = self.build(self.file(text, "once.py")).batches
        self.assertEqual([next(batches), next(batches)], [1, 2])
        with self.assertRaisesRegex(Usage, "cannot be read again"):
            next(batches)

    def test_the_probe_sees_the_batch(self):
        request = {"model": self.file(GOOD), "optimizer": "sgd", "seed": 1, "accumulation_steps": 1, "device": "cpu"}
        found = probe.answer(request)
        self.assertIsNone(found["error"])
        want = {
            "parameters": 15,
            "input_shape": [4],
            "classes": 0,
            "batch_norm": False,
            "sample_unit": "sample",
            "own_optimizer": True,
            "modules": [],
        }
        self.assertEqual(found["model"], want)


class TracebackTest(FileTest):
    def text(self, source):
        try:
            built = self.build(self.file(source, "broken%d.py" % abs(hash(source))))
            built.loss(built.model, next(built.batches))
        except Exception as error:
            return traceback_text.of(error)
        raise AssertionError("no error came")

    def only_the_users(self, text, first, *lines):
        self.assertTrue(text.startswith(first), text)
        self.assertNotIn("autotune_worker", text)
        self.assertNotIn("importlib", text)
        for line in lines:
            self.assertIn(line, text)

    def test_in_the_function(self):
        text = self.text(GOOD.replace("    model =", "    helper()\n    model =") + "\ndef helper():\n    raise ValueError('too bad')\n")
        self.only_the_users(text, "ValueError: too bad\nTraceback", "in build\n    helper()", "in helper\n    raise ValueError")

    def test_at_import(self):
        self.only_the_users(self.text("import nothing_of_that_name\n"), "ModuleNotFoundError: No module named", "import nothing_of_that_name")
        text = self.text("def build(micro_batch, precision):\n    return (1\n")
        self.only_the_users(text, "SyntaxError: ", '.py", line 2', "return (1")

    def test_in_the_forward_pass(self):
        text = self.text(GOOD.replace("torch.nn.Linear(4, 3)", "torch.nn.Linear(5, 3)"))
        self.only_the_users(text, "RuntimeError: ", "mat1 and mat2", "in loss\n", "model(inputs)")

    def test_in_the_loss_of_a_model_of_its_own(self):
        text = self.text(
            GOOD.replace("torch.nn.Sequential(torch.nn.Linear(4, 3))", "Net()")
            + "class Net(torch.nn.Linear):\n    def __init__(self): super().__init__(4, 3)\n    def forward(self, x): return x.nothing\n"
        )
        self.only_the_users(text, "AttributeError: ", "in forward", "x.nothing")

    def test_errors_of_torch_alone_have_no_traceback(self):
        try:
            torch.ones(2) @ torch.ones(3)
        except RuntimeError as error:
            error.__traceback__ = None
            self.assertNotIn("Traceback", traceback_text.of(error))
        self.assertEqual(traceback_text.of(Usage("what is missing")), "what is missing")


class NestedTest(unittest.TestCase):
    class Batch:
        def __init__(self, x):
            self.name, self.x = "name", x

    def test_convert_and_samples(self):
        x = torch.ones(3, 2)
        for batch, get in (
            (x, lambda b: b),
            ((torch.tensor(1.0), x), lambda b: b[1]),
            ([{"a": x}], lambda b: b[0]["a"]),
            ({"n": 5, "x": (x, None)}, lambda b: b["x"][0]),
            (self.Batch(x), lambda b: b.x),
        ):
            changed = nested.convert(nested.double, batch)
            self.assertIs(type(changed), type(batch))
            self.assertIs(get(changed).dtype, torch.float64)
            self.assertIs(get(batch), x)  # the loader's own batch stays
            self.assertEqual(nested.samples(changed), 3)
        self.assertEqual(nested.samples("text"), 0)
        self.assertEqual(nested.convert(nested.double, ("text", 5)), ("text", 5))

    def test_conversion_keeps_counted_bytes(self):
        with storage.Ledger() as ledger:
            nested.convert(nested.double, torch.ones(8))
        self.assertEqual(ledger.live, 0)


if __name__ == "__main__":
    unittest.main()
