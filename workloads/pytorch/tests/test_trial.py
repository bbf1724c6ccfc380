import sys
import unittest
import weakref
from unittest import mock

import torch

import stubs
from autotune_worker import compat, device, errors, memory, steps, trial
from autotune_worker.precision import Precision

CPU = device.CpuDevice()
MEMORY = memory.CpuMemory()


def run(build=stubs.make, **fields):
    """Runs a trial of a task that build makes, and gives what it said."""
    wire = stubs.Wire()
    with mock.patch("autotune_worker.task.build", build):
        wire.goes_on = trial.run(stubs.message(**fields), CPU, MEMORY, wire)
    return wire


def build_with(**parts):
    """A build of the stub with some parts of the task put in the place of its own."""

    def build(*given):
        task = stubs.make(*given)
        for name, part in parts.items():
            setattr(task, name, part)
        return task

    return build


def fail(*_, **__):
    raise ValueError("of the user")


class DoneTest(unittest.TestCase):
    def test_steps_and_end(self):
        wire = run(steps=3, accumulation_steps=2)
        self.assertEqual([warmup for _, warmup in wire.steps], [True, True, False, False, False])
        self.assertEqual({step.samples for step, _ in wire.steps}, {16})
        self.assertTrue(all(step.seconds > 0 and step.device_seconds is None for step, _ in wire.steps))
        self.assertLess(wire.losses[-1], wire.losses[0])
        self.assertEqual((wire.end["op"], wire.end["steps_run"], wire.end["skipped_steps"]), ("done", 5, 0))

    def test_seconds_decide_too(self):
        wire = run(steps=1, seconds=0.05)
        self.assertGreaterEqual(sum(step.seconds for step, warmup in wire.steps if not warmup), 0.05)

    def test_what_is_held_is_looked_at_now_and_then(self):
        wire = run(steps=3, seconds=0.3)
        looks = [held for held in wire.held if held is not None]
        self.assertEqual(wire.held[:2], [None, None])  # of warm-up steps
        self.assertIsNotNone(wire.held[2])
        self.assertTrue(all(held > 0 for held in looks))
        self.assertLess(len(looks), len(wire.steps) - 2)

    def test_memory(self):
        found = run(limit_bytes=1 << 30).end["memory"]
        self.assertEqual((found["baseline_bytes"]["tensors"], found["after_bytes"]["tensors"]), (0, 0))
        self.assertGreater(found["peak_bytes"]["tensors"], 0)
        self.assertTrue(found["peak_reset"])
        self.assertEqual(set(found["peak_bytes"]), set(MEMORY.counters) - {"allocated"})

    def test_without_a_limit_allocated_is_counted_in_place_of_tensors(self):
        if "allocated" not in MEMORY.counters:
            self.skipTest("torch %s does not tell the bytes of its allocator" % torch.__version__)
        found = run().end["memory"]["peak_bytes"]
        self.assertEqual(set(found), set(MEMORY.counters) - {"tensors"})
        self.assertGreaterEqual(found["allocated"], run(limit_bytes=1 << 30).end["memory"]["peak_bytes"]["tensors"])

    def test_precisions(self):
        for precision in ("fp64", "bf16"):
            self.assertEqual(run(precision=precision).end["op"], "done", precision)

    def test_the_same_losses_in_each_trial(self):
        self.assertEqual(run().losses, run().losses)

    def test_compiled_on_the_cpu(self):
        self.assertEqual(run(knobs="compile=on", limit_bytes=1 << 30).end["type"], "unsupported")


class FailedTest(unittest.TestCase):
    def seen(self, wire):
        self.assertTrue(wire.goes_on)
        self.assertEqual([op for op, _ in wire.ends], ["failed"])
        return wire.end["type"], wire.end["phase"]

    def test_phases(self):
        class Backward(torch.autograd.Function):
            forward = staticmethod(lambda context, x: x.clone())
            backward = staticmethod(fail)

        def optimizer(*given):
            task = stubs.make(*given)
            task.optimizer.step = fail
            return task

        cases = {
            "build": fail,
            "forward": build_with(loss=fail),
            "backward": build_with(loss=lambda model, batch: Backward.apply(stubs.loss(model, batch))),
            "optimizer": optimizer,
        }
        for phase, build in cases.items():
            wire = run(build)
            self.assertEqual(self.seen(wire), ("ValueError", phase))
            self.assertTrue(wire.end["text"].startswith("ValueError: of the user"), wire.end["text"])

    def test_the_loader_fails_in_the_forward_pass(self):
        batches = iter([])
        self.assertEqual(self.seen(run(build_with(batches=batches))), ("StopIteration", "forward"))

    def test_the_users_exit(self):
        self.assertEqual(self.seen(run(lambda *_: sys.exit("enough"))), ("SystemExit", "build"))

    def test_out_of_memory_and_recovery(self):
        good = run(limit_bytes=1 << 30)
        peak = good.end["memory"]["peak_bytes"]["tensors"]
        for _ in range(3):
            wire = run(limit_bytes=peak - 1)
            name = compat.OutOfMemoryError.__module__ + ".OutOfMemoryError"
            self.assertEqual(wire.end["type"], name)
            self.assertRegex(wire.end["text"], "^" + name + ": DefaultCPUAllocator: can't allocate memory")
            self.assertEqual(wire.end["memory"]["after_bytes"]["tensors"], 0)
        again = run(limit_bytes=peak)
        self.assertEqual(again.end["memory"]["peak_bytes"]["tensors"], peak)
        self.assertEqual(again.losses, good.losses)

    def test_nothing_of_a_failed_trial_stays(self):
        models = []

        def build(*given):
            task = build_with(loss=fail)(*given)
            models.append(weakref.ref(task.model))
            return task

        run(build)
        self.assertIsNone(models[0]())

    def test_errors_of_the_worker(self):
        for error, kind in ((errors.Unsupported, "unsupported"), (errors.WrongBatch, "wrong_batch"), (errors.Usage, "usage")):
            found = trial.describe(error("the reason"), "build")
            self.assertEqual(found, {"type": kind, "phase": "build", "text": "the reason"})


class BatchTest(unittest.TestCase):
    def build(self, *seen):
        return lambda *given: stubs.make(*given, seen=seen)

    def test_a_shorter_last_batch_is_left_out(self):
        wire = run(self.build(8, 8, 3), steps=4)
        self.assertEqual(wire.end["op"], "done")
        self.assertEqual({step.samples for step, _ in wire.steps}, {8})

    def test_other_sizes_are_wrong(self):
        for seen in ([3], [16], [8, 3, 3]):
            wire = run(self.build(*seen))
            self.assertEqual(wire.end["type"], "wrong_batch")
            self.assertRegex(wire.end["text"], "a batch of 8 samples was asked for, and %d came" % seen[-1])
            self.assertEqual(wire.end["samples"], seen[-1])


class StepTest(unittest.TestCase):
    def gradients(self, micro_batch, accumulation):
        work = stubs.message(optimizer="sgd")
        task = stubs.make(work, micro_batch, torch.device("cpu"), "fp64")
        stepper = steps.Stepper(task, CPU, Precision("fp64", "cpu"), micro_batch, accumulation, mock.Mock())
        step = stepper.timed()
        return step, [parameter.grad.clone() for parameter in task.model.parameters()]

    def test_passes_add_up_to_one(self):
        one, whole = self.gradients(32, 1)
        four, parts = self.gradients(8, 4)
        self.assertAlmostEqual(one.loss, four.loss, delta=1e-12)
        self.assertEqual((one.samples, four.samples), (32, 32))
        for a, b in zip(whole, parts):
            self.assertLess((a - b).abs().max().item(), 1e-12)


if __name__ == "__main__":
    unittest.main()
