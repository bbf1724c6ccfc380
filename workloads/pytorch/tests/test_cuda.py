"""The CUDA branches against a stand-in for torch.cuda: no GPU has run them here."""

import unittest
from unittest import mock

import torch

import fake_cuda
import stubs
from autotune_worker import device, memory, nvml, trial


class CudaTest(unittest.TestCase):
    def setUp(self):
        self.cuda = fake_cuda.Cuda()
        self.device = device.CudaDevice(torch.device("cuda", 0), self.cuda, torch.device("cpu"))
        self.patch("autotune_worker.task.build", self.build)
        # Before the context is there, the card has that much more.
        self.free = [self.cuda.total, self.cuda.total - self.cuda.context]
        self.patch("autotune_worker.nvml.free", lambda index: self.nvml())
        self.autocast = []
        self.patch("autotune_worker.compat.autocast", self.autocast_on)
        self.patch("autotune_worker.compat.grad_scaler", lambda kind: fake_cuda.Scaler())
        self.cuda.__enter__()
        self.addCleanup(self.cuda.__exit__, None, None, None)
        self.memory = memory.of(self.device)
        self.fails_with = None
        self.cuda.calls.clear()

    def patch(self, name, value):
        patch = mock.patch(name, value)
        patch.start()
        self.addCleanup(patch.stop)

    def nvml(self):
        """Free memory before the context, and after it with what the first operations have reserved."""
        if len(self.free) == 2:
            return self.free.pop(0)
        return self.free[0] - self.cuda.memory_reserved(None)

    def autocast_on(self, kind, dtype):
        self.autocast.append((kind, dtype))
        return torch.autocast("cpu", dtype=torch.bfloat16)

    def build(self, work, micro_batch, place, precision):
        self.assertEqual(place, torch.device("cuda", 0))
        task = stubs.make(work, micro_batch, torch.device("cpu"), precision, width=1024)
        if self.fails_with:
            task.loss = mock.Mock(side_effect=RuntimeError(self.fails_with))
        return task

    def run_trial(self, **fields):
        wire = stubs.Wire()
        wire.goes_on = trial.run(stubs.message(**fields), self.device, self.memory, wire)
        return wire

    def test_counters(self):
        wire = self.run_trial()
        found = wire.end["memory"]
        self.assertEqual(wire.end["op"], "done")
        self.assertEqual(set(found["peak_bytes"]), set(self.memory.counters))
        self.assertEqual(found["baseline_bytes"]["allocated"], self.memory.baseline)
        self.assertEqual(found["after_bytes"], {"allocated": self.memory.baseline, "reserved": 0})
        peak = found["peak_bytes"]
        self.assertLessEqual(peak["allocated"], peak["reserved"])
        self.assertEqual(peak["device_used"], peak["reserved"] + peak["context"] + peak["other_processes"])
        self.assertEqual((peak["context"], peak["other_processes"]), (self.cuda.context, 0))
        self.assertEqual(found["allocator_retries"], 0)

    def test_peaks_begin_anew_with_each_trial(self):
        large = self.run_trial(micro_batch=128).end["memory"]["peak_bytes"]
        small = self.run_trial().end["memory"]["peak_bytes"]
        self.assertLess(small["allocated"], large["allocated"])
        self.assertLess(small["reserved"], large["reserved"])

    def test_other_processes(self):
        self.cuda.others = 10 * fake_cuda.PIECE
        self.assertEqual(self.run_trial().end["memory"]["peak_bytes"]["other_processes"], 10 * fake_cuda.PIECE)

    def test_a_device_whose_driver_does_not_say(self):
        self.patch("autotune_worker.nvml.free", lambda index: None)
        self.memory = memory.of(self.device)
        self.assertEqual(self.memory.counters, ["allocated", "reserved", "device_used"])
        self.assertEqual(set(self.run_trial().end["memory"]["peak_bytes"]), {"allocated", "reserved", "device_used"})

    def test_out_of_memory_and_recovery_ten_times(self):
        good = self.run_trial()
        limit = good.end["memory"]["peak_bytes"]["reserved"]
        for _ in range(10):
            failed = self.run_trial(limit_bytes=limit - fake_cuda.PIECE)
            self.assertTrue(failed.goes_on)
            self.assertIn("CUDA out of memory", failed.end["text"])
            self.assertGreater(failed.end["memory"]["allocator_retries"], 0)
            self.assertEqual(failed.end["memory"]["after_bytes"]["allocated"], self.memory.baseline)
            again = self.run_trial(limit_bytes=limit)
            self.assertEqual((again.end["op"], again.losses), ("done", good.losses))

    def test_a_limit_goes_with_its_trial(self):
        self.run_trial(limit_bytes=5 * fake_cuda.PIECE)
        self.assertEqual(self.cuda.limit, 5 * fake_cuda.PIECE)
        self.run_trial()
        self.assertEqual(self.cuda.limit, self.cuda.total)

    def test_the_limit_is_exact_to_the_byte(self):
        for limit in (1, 12345, 1 << 20, self.cuda.total - 1, self.cuda.total, 2 * self.cuda.total):
            self.memory.trial(limit, False)
            self.assertEqual(self.cuda.limit, min(limit, self.cuda.total))

    def test_a_full_card(self):
        self.cuda.others = self.cuda.total - self.cuda.context - 2 * fake_cuda.PIECE
        self.assertIn("CUDA out of memory", self.run_trial().end["text"])

    def test_events_beside_the_clock(self):
        wire = self.run_trial(steps=1)
        calls = [call for call in self.cuda.calls if call != "empty_cache"]
        self.assertEqual(calls, ["synchronize", "record", "record", "synchronize"] * 3)
        for step, _ in wire.steps:
            self.assertGreater(step.device_seconds, 0)
            self.assertLessEqual(step.device_seconds, step.seconds + 1e-6)

    def test_each_pass_moves_its_batch(self):
        moved, to = [], torch.Tensor.to

        def record(tensor, *places, **how):
            if how == {"non_blocking": True}:
                moved.append(tensor)
            return to(tensor, *places, **how)

        with mock.patch.object(torch.Tensor, "to", record):
            self.run_trial(accumulation_steps=3, steps=1)
        self.assertEqual(len(moved), 3 * 3 * 2)  # steps, passes, and inputs and targets

    def test_precisions(self):
        for precision in ("fp32", "tf32", "bf16", "fp16", "fp64"):
            self.autocast.clear()
            self.assertEqual(self.run_trial(precision=precision).end["op"], "done", precision)
            dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
            self.assertEqual(set(self.autocast), {("cuda", dtype)} if dtype else set())
            self.assertEqual(torch.backends.cuda.matmul.allow_tf32, precision == "tf32")

    def test_skipped_steps_lengthen_the_warm_up(self):
        # Only a scale of 2^124 and less lets this loss through.
        self.patch("autotune_worker.compat.grad_scaler", lambda kind: fake_cuda.Scaler(2.0**130))
        wire = self.run_trial(precision="fp16")
        skipped = wire.end["skipped_steps"]
        self.assertGreater(skipped, 2)
        self.assertEqual([warmup for _, warmup in wire.steps], [True] * (skipped + 1) + [False] * 2)
        self.assertEqual([step.skipped for step, _ in wire.steps], [True] * skipped + [False] * 3)
        self.assertEqual(wire.end["steps_run"], skipped + 3)

    def test_steps_that_are_all_skipped(self):
        self.patch("autotune_worker.compat.grad_scaler", lambda kind: fake_cuda.Scaler(2.0**1000))
        wire = self.run_trial(precision="fp16")
        self.assertEqual((wire.end["op"], wire.end["steps_run"], wire.end["skipped_steps"]), ("done", 22, 22))

    def test_errors_after_which_the_context_is_of_no_use(self):
        for text in ("CUDA error: an illegal memory access was encountered", "CUDA error: device-side assert triggered"):
            self.fails_with = text
            wire = self.run_trial()
            self.assertFalse(wire.goes_on)
            self.assertEqual((wire.end["op"], wire.end["phase"]), ("failed", "forward"))
            self.assertIn(text, wire.end["text"])
        self.fails_with = "CUBLAS_STATUS_ALLOC_FAILED"
        self.assertTrue(self.run_trial().goes_on)

    def test_the_cache_is_given_back(self):
        self.run_trial()
        self.assertEqual(self.cuda.calls[-1], "empty_cache")


class NameTest(unittest.TestCase):
    def test_devices(self):
        self.assertEqual(device.of("cpu").kind, "cpu")
        with mock.patch("torch.cuda.is_available", return_value=True):
            self.assertEqual(device.of("cuda").place, torch.device("cuda", 0))
            self.assertEqual(device.of("cuda:1").place, torch.device("cuda", 1))
        with mock.patch("torch.cuda.is_available", return_value=False):
            with self.assertRaisesRegex(RuntimeError, "sees no CUDA device"):
                device.of("cuda")

    def test_numbers_behind_cuda_visible_devices(self):
        for visible, index, identity in (("", 1, 1), ("2,0", 1, 0), ("GPU-a,MIG-b", 1, "MIG-b"), ("3, 5", 1, 5)):
            with mock.patch.dict("os.environ", {"CUDA_VISIBLE_DEVICES": visible}):
                self.assertEqual(nvml._identity(index), identity)

    def test_a_driver_that_is_not_there(self):
        with mock.patch("ctypes.CDLL", side_effect=OSError("no such file")):
            self.assertIsNone(nvml.free(0))


if __name__ == "__main__":
    unittest.main()
