import unittest
from unittest import mock

import torch

from autotune_worker import compat, errors, precision
from autotune_worker.precision import Precision


class PrecisionTest(unittest.TestCase):
    def tearDown(self):
        Precision("fp32", "cpu")

    def flags(self, name):
        Precision(name, "cuda")
        return torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32

    def test_tf32_is_on_for_tf32_alone(self):
        for name in ("fp32", "tf32", "bf16", "fp64", "tf32", "fp32"):
            self.assertEqual(self.flags(name), (name == "tf32", name == "tf32"), name)

    def test_mixed_precision_keeps_the_weights(self):
        layer = torch.nn.Linear(4, 4)
        with Precision("bf16", "cpu").forward():
            out = layer(torch.ones(2, 4))
        self.assertEqual((out.dtype, layer.weight.dtype), (torch.bfloat16, torch.float32))
        with Precision("fp32", "cpu").forward():
            self.assertEqual(layer(torch.ones(2, 4)).dtype, torch.float32)

    def test_a_loss_scaler_for_fp16_alone(self):
        with mock.patch.object(compat, "grad_scaler") as scaler:
            self.assertIs(Precision("fp16", "cuda").scaler, scaler.return_value)
            scaler.assert_called_once_with("cuda")
            for name in ("fp32", "tf32", "bf16", "fp64"):
                self.assertIsNone(Precision(name, "cuda").scaler)


class ProbeTest(unittest.TestCase):
    def test_the_cpu(self):
        refusals = precision.probe(torch.device("cpu"))
        self.assertEqual(set(refusals), set(precision.NAMES))
        self.assertEqual((refusals["fp32"], refusals["fp64"]), ("", ""))
        self.assertIn("mode of NVIDIA GPUs", refusals["tf32"])
        if not hasattr(torch.amp, "GradScaler"):
            self.assertIn("no loss scaler for cpu", refusals["fp16"])

    def test_the_original_text(self):
        text = "could not create a primitive descriptor iterator"
        with mock.patch.object(compat, "autocast", side_effect=RuntimeError(text)):
            refusals = precision.probe(torch.device("cpu"))
        self.assertEqual((refusals["fp32"], refusals["bf16"]), ("", text))

    def test_autocast_that_does_nothing(self):
        with mock.patch.object(compat, "autocast", lambda kind, dtype: torch.no_grad()):
            with self.assertRaisesRegex(errors.Unsupported, "gave torch.float32 where torch.bfloat16"):
                precision._try("bf16", torch.device("cpu"))

    def test_a_full_device_can_do_all(self):
        with mock.patch.object(torch.nn.Sequential, "forward", side_effect=compat.OutOfMemoryError("CUDA out of memory")):
            self.assertEqual(precision.probe(torch.device("cpu"))["fp32"], "")

    def test_tf32_by_the_capability(self):
        place = torch.device("cuda", 0)
        with mock.patch("torch.cuda.get_device_capability", return_value=(7, 5)):
            with self.assertRaisesRegex(errors.Unsupported, "the device has 7.5"):
                precision._need_tf32(place)
        with mock.patch("torch.cuda.get_device_capability", return_value=(9, 0)):
            precision._need_tf32(place)


if __name__ == "__main__":
    unittest.main()
