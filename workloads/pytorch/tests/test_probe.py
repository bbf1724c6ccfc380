"""The probe never fails: what goes wrong is in its answer."""

import builtins
import json
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

import torch

import graphs
from autotune_worker import probe

torch.set_num_threads(1)  # other tests run beside

WORK = {"optimizer": "momentum", "seed": 1, "accumulation_steps": 1, "precision": "fp32", "device": "cpu"}


def ask(**fields):
    answer = probe.answer(dict(WORK, **fields))
    json.dumps(answer)  # it can be written
    return answer


class ProbeTest(unittest.TestCase):
    def test_without_a_model(self):
        answer = probe.answer({"model": "", "device": ""})
        self.assertIsNone(answer["error"])
        self.assertIsNone(answer["model"])
        self.assertEqual(answer["torch"], torch.__version__)
        self.assertEqual(answer["versions"]["torch"], torch.__version__)
        self.assertEqual(answer["cuda_available"], torch.cuda.is_available())
        self.assertEqual(answer["device"], "cuda" if torch.cuda.is_available() else "cpu")
        self.assertEqual(answer["precisions"]["fp32"], "")
        if answer["device"] == "cpu":
            self.assertIn("tf32", answer["precisions"]["tf32"])
        self.assertEqual(answer["predicts"], not answer["unpredicted"])

    def test_a_built_in_model(self):
        answer = ask(model="resnet", graph=graphs.residual())
        self.assertIsNone(answer["error"])
        model = answer["model"]
        self.assertEqual((model["input_shape"], model["classes"], model["sample_unit"]), ([2, 6, 6], 3, "image"))
        self.assertTrue(model["batch_norm"])
        self.assertFalse(model["own_optimizer"])
        self.assertEqual(model["modules"], ["layer1.0", "layer1.1", "layer1"])

    def test_no_such_device(self):
        if torch.cuda.is_available():
            self.skipTest("there is a CUDA device")
        answer = ask(model="resnet", graph=graphs.residual(), device="cuda")
        self.assertEqual((answer["error"], answer["model"], answer["devices"]), (None, None, []))
        self.assertFalse(answer["cuda_available"])

    def test_errors_are_in_the_answer(self):
        module = types.ModuleType("broken")

        def leave():
            sys.exit("gone")

        module.leave, module.divide = leave, lambda: 1 / 0
        with mock.patch.dict(sys.modules, broken=module):
            for name, kind, text in (
                ("nofile.py:build", "usage", "no file nofile.py"),
                ("nopackage:model", "usage", "no package nopackage"),
                ("broken:divide", "ZeroDivisionError", "ZeroDivisionError: division by zero"),
                ("broken:leave", "SystemExit", "gone"),
            ):
                answer = ask(model=name)
                self.assertEqual(answer["error"]["type"], kind)
                self.assertIn(text, answer["error"]["text"])
                self.assertNotIn("autotune_worker", answer["error"]["text"])
                self.assertEqual(answer["precisions"]["fp32"], "")
        self.assertEqual(ask(model="x", graph=graphs.residual(), optimizer="lion")["error"]["type"], "unsupported")

    def test_stages(self):
        """What is known is said before each thing that a user's code may do."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "staged.py")
            with open(path, "w") as file:
                file.write("import torch\ndef build(micro_batch, precision):\n    raise KeyboardInterrupt\n")
                file.write("def good(micro_batch, precision):\n    model = torch.nn.Linear(4, 2)\n")
                file.write(
                    "    return model, torch.optim.SGD(model.parameters(), lr=1), [torch.zeros(1, 4)], lambda model, batch: model(batch).sum()\n"
                )
            for model, stages, error in (
                (path + ":good", ["import", "build", "batch", ""], None),
                (path, ["import", "build", "build"], "KeyboardInterrupt"),
                ("nowhere.py", ["import", "import"], "usage"),
                ("torch.nn:Tanhh", ["import", "build", "build"], "usage"),
                ("", [""], None),
            ):
                said = list(probe.answers(dict(WORK, model=model)))
                self.assertEqual([answer["stage"] for answer in said], stages, model)
                self.assertEqual({answer["torch"] for answer in said}, {torch.__version__})
                self.assertEqual([answer["error"] for answer in said[:-1]], [None] * (len(said) - 1))
                self.assertEqual((said[-1]["error"] or {}).get("type"), error)

    def test_a_package_that_the_users_code_lacks(self):
        module = types.ModuleType("lacking")
        module.make = lambda: __import__("nosuchpackage")
        with mock.patch.dict(sys.modules, lacking=module):
            self.assertEqual(ask(model="lacking:make")["error"]["missing"], "nosuchpackage")
        self.assertEqual(ask(model="nosuchpackage:make")["error"]["missing"], "nosuchpackage")

    def test_a_broken_torch(self):
        imported = builtins.__import__

        def refuse(name, *args, **kwargs):
            if name == "torch":
                raise ImportError("libtorch.so: cannot open shared object file")
            return imported(name, *args, **kwargs)

        with mock.patch.object(builtins, "__import__", refuse):
            answer = ask(model="x")
        self.assertEqual(answer["torch"], "")
        self.assertEqual(answer["error"], {"type": "ImportError", "text": "ImportError: libtorch.so: cannot open shared object file"})

    def test_devices(self):
        properties = types.SimpleNamespace(name="GPU", major=9, minor=0, uuid="GPU-1")
        with mock.patch.multiple(
            torch.cuda,
            is_available=lambda: True,
            device_count=lambda: 1,
            get_device_properties=lambda index: properties,
            mem_get_info=lambda index: (5, 7),
        ):
            answer = ask(model="")
        want = {"index": 0, "name": "GPU", "total_bytes": 7, "free_bytes": 5, "capability": "9.0", "uuid": "GPU-1"}
        self.assertEqual(answer["devices"], [want])


if __name__ == "__main__":
    unittest.main()
