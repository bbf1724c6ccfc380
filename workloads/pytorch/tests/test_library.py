"""Models by name: what is found out by inspection, the losses, and what is said where something is missing."""

import collections
import importlib.util
import os
import sys
import tempfile
import types
import unittest

import torch
from torch import nn

from autotune_worker import inspection, library, outputs, packages, probe, storage, task
from autotune_worker.errors import Missing, Usage

torch.set_num_threads(1)  # other tests run beside

CPU = torch.device("cpu")

# The options of layers.
LINEAR = {"in_features": "6", "out_features": "2"}
LAYER = {"in_channels": "6", "out_channels": "2", "kernel_size": "1"}


def build(name, micro_batch=3, precision="fp32", **fields):
    work = dict({"model": name, "optimizer": "momentum", "seed": 1, "accumulation_steps": 1}, **fields)
    return task.build(work, micro_batch, CPU, precision)


def train(built):
    """One step; gives the loss."""
    loss = built.loss(built.model, next(built.batches))
    loss.backward()
    built.optimizer.step()
    return loss.item()


class Net(nn.Module):
    """A small network for images of any size."""

    def __init__(self, num_classes=5, channels=3, width=4):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(channels, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU())
        self.fc = nn.Linear(width, num_classes)

    def forward(self, x):
        return self.fc(self.body(x).mean((2, 3)))


class Sized(Net):
    image_size = 12


class Flat(nn.Sequential):
    """Takes images of one size alone, that of MNIST."""

    def __init__(self):
        super().__init__(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(2 * 26 * 26, 10))


class Auxiliary(Net):
    """Gives more than one prediction while it trains."""

    Output = collections.namedtuple("Output", "logits aux")

    def forward(self, x):
        y = super().forward(x)
        return self.Output(y, 2 * y) if self.training else y


class Segmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 7, 1)

    def forward(self, x):
        return collections.OrderedDict(out=self.conv(x), aux=self.conv(x))


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(11, 4), nn.Linear(4, 11)

    def forward(self, x):
        return types.SimpleNamespace(hidden=None, logits=self.head(self.embed(x)))


class OwnLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return {"loss": self.fc(x).pow(2).mean(), "logits": self.fc(x)}


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x):
        return self.fc(x)[:, 0]


class Untensored(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return "nothing"


def no_module():
    return nn.Linear(2, 2), None


class Late(nn.Sequential):
    """Its second layer does not take what its first one gives."""

    def __init__(self):
        super().__init__(nn.Conv2d(3, 2, 3), nn.Conv2d(5, 2, 3))


class Lazy(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.LazyLinear(4))


class CallableTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        module = types.ModuleType("made")
        for name in ("Net", "Sized", "Flat", "Auxiliary", "Segmenter", "Tokens", "OwnLoss", "Regression", "Untensored", "no_module", "Late", "Lazy"):
            setattr(module, name, globals()[name])
        module.instance = Sized()
        sys.modules["made"] = module

    @classmethod
    def tearDownClass(cls):
        del sys.modules["made"]

    def facts(self, built):
        return built.facts["input_shape"], built.facts["classes"], built.facts["sample_unit"]

    def test_inspection(self):
        for name, fields, want in (
            ("made:Sized", {}, ([3, 12, 12], 5, "image")),
            ("made:Sized", {"input_shape": [3, 8, 10]}, ([3, 8, 10], 5, "image")),
            ("made:Sized", {"options": {"channels": "1"}, "classes": 9}, ([1, 12, 12], 9, "image")),
            ("made:instance", {}, ([3, 12, 12], 5, "image")),
            ("made:Flat", {}, ([1, 28, 28], 10, "image")),
            ("made:Auxiliary", {"input_shape": [3, 8, 8]}, ([3, 8, 8], 5, "image")),
            ("made:Segmenter", {"input_shape": [3, 6, 5]}, ([3, 6, 5], 7, "image")),
            ("made:Tokens", {"input_shape": [6]}, ([6], 11, "sequence")),
            ("made:OwnLoss", {}, ([4], 0, "sample")),
            ("made:Regression", {}, ([4], 0, "sample")),
            ("made:Lazy", {"input_shape": [1, 8, 8]}, ([1, 8, 8], 4, "image")),
            ("torch.nn:Linear", {"options": {"in_features": "6", "out_features": "2", "bias": "False"}}, ([6], 2, "sample")),
        ):
            for precision in ("fp32", "fp64", "fp32"):  # the third time from what was found
                built = build(name, precision=precision, **fields)
                self.assertEqual(self.facts(built), want, name)
                self.assertEqual(built.samples(next(built.batches)), 3)
                first = train(built)
                self.assertLess(train(built), first, name)
        self.assertTrue(all(p.dtype is torch.float32 for p in sys.modules["made"].instance.parameters()))

    def test_the_seed_gives_weights_and_data(self):
        losses = [train(build("made:Sized", seed=seed)) for seed in (1, 1, 2, 2**64 - 1)]
        self.assertEqual(losses[0], losses[1])
        self.assertNotEqual(losses[0], losses[2])

    def test_one_batch_serves_every_pass(self):
        built = build("made:Sized")
        self.assertIs(next(built.batches), next(built.batches))

    def test_the_inspection_is_not_counted(self):
        packages._forms.clear()
        with storage.Ledger() as ledger:
            built = build("made:Sized", micro_batch=1)
        batch = next(built.batches)
        state = sum(t.numel() * t.element_size() for t in built.model.state_dict().values())
        self.assertLessEqual(ledger.peak, state + sum(t.numel() * t.element_size() for t in batch) + 16 * 1024)

    def test_options_are_literals_or_text(self):
        given = {"a": "3", "b": "[1, 2]", "c": "None", "d": "relu", "e": "1e-5"}
        self.assertEqual(library.options({"options": given}), {"a": 3, "b": [1, 2], "c": None, "d": "relu", "e": 1e-5})
        self.assertEqual(library.options({}), {})

    def test_what_is_missing_is_said(self):
        for name, fields, parts in (
            ("made:Net", {}, ("8 of them, from 3x28x28 to 3x384x384", "--input 3,224,224")),
            ("made:Tokens", {}, ("cannot be known", "--input 128")),
            ("torch.nn:Conv3d", {"options": {"in_channels": "3", "out_channels": "4", "kernel_size": "1"}}, ("--input 3,16,112,112",)),
            ("made:Flat", {"input_shape": [1, 32, 32]}, ("does not run on one sample of 1x32x32", "shapes cannot be multiplied", "adapter")),
            ("made:Flat", {"input_shape": [3, 28, 28]}, ("to have 1 channels", "Give --input, such as --input 1,28,28")),
            ("made:Late", {"input_shape": [3, 20, 20]}, ("to have 5 channels", "Give --input, such as --input 3,224,224")),
            ("torch.nn:Conv1d", {"options": LAYER, "input_shape": [1, 100]}, ("to have 6 channels", "Give --input, such as --input 6,100")),
            ("torch.nn:Linear", {"options": LINEAR, "input_shape": [9]}, ("(1x9 and 6x2)", "Give --input, such as --input 6")),
            ("made:Flat", {"classes": 4}, ("--classes 4, but the model gives 10 classes",)),
            ("made:Regression", {"classes": 4}, ("--classes 4, but the model gives no classes",)),
            ("made:Untensored", {}, ("the output has no tensor",)),
            ("made:no_module", {}, ("it gave a tuple, not a torch.nn.Module", "adapter")),
            ("made:instance", {"options": {"width": "3"}}, ("takes no options",)),
            ("made:Nte", {}, ("made has no Nte; did you mean Net?",)),
            ("made:__name__", {}, ("it is a str",)),
            ("made:Sized", {"options": {"size": "3"}}, ("cannot be called", "'size'", "--set NAME=VALUE")),
            ("nopackage.here:Net", {}, ("there is no package nopackage", sys.executable)),
            ("torchvison:resnet18", {}, ("there is no package torchvison", "did you mean --model torchvision:resnet18?")),
            ("resnet", {}, ("torchvision:NAME", "FILE.py:FUNCTION")),
        ):
            with self.assertRaises(Usage) as caught:
                build(name, **fields)
            for part in parts:
                self.assertIn(part, str(caught.exception))

    def test_an_error_of_the_users_module_stays(self):
        with self.assertRaises(ZeroDivisionError):
            sys.modules["made"].broken = lambda: 1 / 0
            build("made:broken")

    def test_the_probe(self):
        found = probe.answer({"model": "made:Sized", "optimizer": "sgd", "seed": 1, "accumulation_steps": 1, "device": "cpu"})
        self.assertIsNone(found["error"])
        want = {"parameters": 145, "input_shape": [3, 12, 12], "classes": 5, "batch_norm": True, "sample_unit": "image", "own_optimizer": False}
        self.assertEqual(found["model"], dict(want, modules=["body"]))


class OutputsTest(unittest.TestCase):
    def test_losses(self):
        logits, classes = torch.randn(4, 3), torch.tensor([0, 1, 2, 0])
        plain = nn.functional.cross_entropy(logits, classes)
        self.assertEqual(outputs.loss(logits, classes), plain)
        self.assertEqual(outputs.loss({"x": logits * 5, "logits": logits}, classes).item(), (plain + 0.4 * outputs.loss(logits * 5, classes)).item())
        self.assertEqual(outputs.loss((logits, torch.ones(2)), classes), plain)
        self.assertEqual(outputs.loss({"loss": torch.tensor(7.0), "logits": logits}, classes), 7)
        sequence = torch.randn(2, 5, 3)
        targets = torch.randint(3, (2, 5))
        want = nn.functional.cross_entropy(sequence.transpose(1, 2), targets)
        self.assertAlmostEqual(outputs.loss(sequence, targets).item(), want.item(), 6)
        picture = torch.randn(2, 3, 4, 5)
        self.assertEqual(outputs.target_shape(picture.shape), (2, 4, 5))
        self.assertEqual(outputs.target_shape(sequence.shape), (2, 5))
        self.assertEqual(outputs.loss(torch.tensor([[1.0], [3.0]]), None), 5)


@unittest.skipUnless(importlib.util.find_spec("torchvision"), "torchvision is not installed")
class TorchvisionTest(unittest.TestCase):
    def test_defaults(self):
        import torchvision

        for name, shape in (("resnet18", [(3, 224, 224)]), ("inception_v3", [(3, 299, 299)]), ("fcn_resnet50", [(3, 520, 520)]), ("r3d_18", [])):
            self.assertEqual(packages._torchvision_input(torchvision.models, name), shape)
        built = build("torchvision:mobilenet_v3_small", input_shape=[3, 32, 32], classes=7)
        self.assertEqual(built.facts, {"input_shape": [3, 32, 32], "classes": 7, "sample_unit": "image"})
        train(built)
        small = {"image_size": "16", "patch_size": "8", "num_layers": "1", "num_heads": "2", "hidden_dim": "8", "mlp_dim": "8"}
        built = build("torchvision.models:VisionTransformer", options=small)
        self.assertEqual(built.facts["input_shape"], [3, 16, 16])
        built = build("torchvision:vit_b_32", options={"image_size": "32"})
        self.assertEqual(built.facts["input_shape"], [3, 32, 32])

    def test_what_cannot_be_named(self):
        for name, text in (("resnet81", "did you mean resnet18"), ("retinanet_resnet50_fpn", "adapter"), ("r3d_18", "--input 3,16,112,112")):
            with self.assertRaisesRegex(Usage, text):
                build("torchvision:" + name)


class MissingPackageTest(unittest.TestCase):
    def missing(self, name):
        """The text, and the package that could be installed; empty: none."""
        with self.assertRaises(Missing) as caught:
            build(name)
        return str(caught.exception), caught.exception.fields().get("missing", "")

    def test_a_library_that_is_not_installed(self):
        for name in ("timm", "transformers"):
            if importlib.util.find_spec(name) is None:
                self.assertEqual(self.missing(name + ":anything"), ("--model %s:anything: there is no package %s" % (name, name), name))

    def test_the_nearest_package(self):
        for name, package, text in (
            ("torchvison:resnet50", "", "did you mean --model torchvision:resnet50?"),
            ("transfomers:bert", "", "did you mean --model transformers:bert?"),
            ("stub:make", "", "did you mean --model stubs:make?"),
            ("torch.nnn:Linear", "", "did you mean --model torch.nn:Linear?"),
            ("zebracrossing:Net", "zebracrossing", "nor in what %s has installed" % sys.executable),
        ):
            said, could = self.missing(name)
            self.assertIn("--model %s: there is no package %s" % (name, name.partition(":")[0]), said)
            self.assertIn(text, said)
            self.assertEqual(could, package)

    def test_a_file_that_is_named_like_the_library(self):
        folder = os.getcwd()
        with tempfile.TemporaryDirectory() as elsewhere:
            os.chdir(elsewhere)
            try:
                with open("random.py", "w"):
                    pass
                with self.assertRaisesRegex(Usage, "random has no Net; random.py is another one, hidden .*: give it another name"):
                    build("random:Net")
            finally:
                os.chdir(folder)


@unittest.skipUnless(importlib.util.find_spec("timm"), "timm is not installed")
class TimmTest(unittest.TestCase):
    def test_a_model(self):
        self.assertEqual(build("timm:resnet18", classes=4).facts["input_shape"], [3, 224, 224])
        train(build("timm:resnet18", classes=4, input_shape=[3, 64, 64]))
        with self.assertRaisesRegex(Usage, "did you mean resnet"):
            build("timm:resnet118x")


@unittest.skipUnless(importlib.util.find_spec("transformers"), "transformers is not installed")
class TransformersTest(unittest.TestCase):
    SMALL = {"hidden_size": "16", "num_hidden_layers": "2", "num_attention_heads": "2", "intermediate_size": "32", "vocab_size": "50"}

    def test_heads(self):
        for name, options, fields, want in (
            ("bert", self.SMALL, {"input_shape": [8]}, ([8], 50, "sequence")),
            ("BertConfig", self.SMALL, {"input_shape": [8], "classes": 3}, ([8], 3, "sequence")),
            ("BertForTokenClassification", self.SMALL, {"input_shape": [8]}, None),
            ("gpt2", {"n_embd": "16", "n_layer": "2", "n_head": "2", "vocab_size": "50", "n_positions": "12"}, {}, ([12], 50, "sequence")),
            ("vit", dict(self.SMALL, image_size="32", patch_size="8"), {"classes": 4}, ([3, 32, 32], 4, "image")),
        ):
            built = build("transformers:" + name, options=options, **fields)
            first = train(built)
            self.assertLess(train(built), first, name)
            if want:
                self.assertEqual((built.facts["input_shape"], built.facts["classes"], built.facts["sample_unit"]), want)

    def test_what_is_missing(self):
        with self.assertRaisesRegex(Usage, "did you mean bert"):
            build("transformers:bertt")


class InspectionTest(unittest.TestCase):
    def test_batch_norm_keeps_its_statistics(self):
        net = Net().train()
        inspection.find(net, "net", (3, 8, 8), [])
        self.assertTrue(net.training)
        self.assertEqual(net.body[1].num_batches_tracked, 0)


if __name__ == "__main__":
    unittest.main()
