import fcntl
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest

import stubs
from autotune_worker import steps, wire

_WORKER = os.path.dirname(os.path.abspath(wire.__file__))

# A user's file: it prints, and its loader stops for long when the file "stop" is there.
_USERS = """
import os, time, torch

print("at import")

def build(micro_batch, precision):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 256), torch.nn.ReLU(), torch.nn.Linear(256, 4))
    return model, torch.optim.Adam(model.parameters()), batches(micro_batch), loss

def batches(micro_batch):
    while True:
        print("a batch")
        if os.path.exists("stop"):
            open("stopped", "w").close()
            time.sleep(100)
        yield torch.ones(micro_batch, 16), torch.zeros(micro_batch, dtype=torch.long)

def loss(model, batch):
    return torch.nn.functional.cross_entropy(model(batch[0]), batch[1])
"""


class LineTest(unittest.TestCase):
    def setUp(self):
        requests, self.requests = os.pipe()
        self.answers, out = os.pipe()
        os.set_blocking(self.answers, False)
        self.wire = wire.Wire(requests, out)
        self.addCleanup(os.close, self.answers)
        self.addCleanup(os.close, out)  # the thread goes on waiting: the end of requests would end the tests

    def lines(self):
        try:
            return [json.loads(line) for line in os.read(self.answers, 1 << 16).splitlines()]
        except BlockingIOError:
            return []

    def step(self, seconds=0.001, loss=1.0, warmup=False, device=None, held=None):
        self.wire.step(steps.Step(seconds, device, loss, 8, False), warmup, held)

    def test_fields_of_a_step(self):
        self.step(0.5, float("nan"), True)
        self.step(0.5, 2.0, False, 0.25, 4096)
        first, second = self.lines()
        self.assertEqual(first, {"v": 1, "op": "step", "warmup": True, "seconds": 0.5, "loss": None, "samples": 8})
        self.assertEqual((second["device_seconds"], second["loss"], second["held_bytes"]), (0.25, 2.0, 4096))

    def test_short_steps_are_held_back(self):
        self.step(warmup=True)
        self.step()
        self.assertEqual(len(self.lines()), 2)
        self.step()
        self.step()
        self.assertEqual(self.lines(), [])
        self.wire.say("done", steps_run=4)
        self.assertEqual([line["op"] for line in self.lines()], ["step", "step", "done"])

    def test_for_a_moment_alone(self):
        self.step()
        self.step()
        time.sleep(wire._HELD)
        self.step()
        self.assertEqual(len(self.lines()), 3)

    def test_long_steps_are_not(self):
        for _ in range(3):
            self.step(0.2)
        self.assertEqual(len(self.lines()), 3)

    def test_messages(self):
        os.write(self.requests, b'{"v":1,"op":"exit","more":1}\n')
        self.assertEqual(self.wire.receive()["op"], "exit")


class ReadTest(unittest.TestCase):
    def test_what_breaks_the_protocol(self):
        for line in (
            b"{\n",
            b"[1]\n",
            b'{"v":2,"op":"exit"}\n',
            b'{"v":1,"op":"dance"}\n',
            b'{"v":1,"op":"exit"}',
            b"\xff\n",
            b" " * wire.LONGEST + b"\n",
        ):
            with self.assertRaises(ValueError):
                wire._read(line)


def high(descriptor):
    """The same file under a number that is neither 3 nor 4."""
    other = fcntl.fcntl(descriptor, fcntl.F_DUPFD, 10)
    os.close(descriptor)
    return other


class Process:
    """A worker, as the harness starts it, in a folder of its own with the user's file."""

    def __init__(self, test, *more):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(self.path("train.py"), "w") as file:
            file.write(_USERS)
        requests, self.requests = os.pipe()
        answers, out = os.pipe()
        requests, out = high(requests), high(out)
        # A first program puts the pipes where the protocol has them: this process may need its own 3 and 4.
        first = "import os, sys; os.dup2(%d, 3); os.dup2(%d, 4); os.execv(sys.executable, [sys.executable] + sys.argv[1:])" % (requests, out)
        command = [sys.executable, "-c", first, "-u", _WORKER, "serve"]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        environment["OMP_NUM_THREADS"] = "1"
        self.process = subprocess.Popen(
            command + list(more),
            pass_fds=(requests, out),
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        os.close(requests)
        os.close(out)
        self.answers = os.fdopen(answers)
        test.addCleanup(self.close)

    def path(self, name):
        return os.path.join(self.folder, name)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        self.answers.close()
        self.end_requests()

    def end_requests(self):
        if self.requests is not None:
            os.close(self.requests)
        self.requests = None

    def send(self, **message):
        os.write(self.requests, json.dumps(message).encode() + b"\n")

    def answer(self):
        """The next message that is no step, and the losses of the steps before it."""
        losses = []
        while True:
            message = json.loads(self.answers.readline())
            if message["op"] != "step":
                return message, losses
            losses.append(message["loss"])

    def trial(self, **fields):
        self.send(**stubs.message(model="train.py", micro_batch=32, **fields))
        return self.answer()

    def ended(self):
        """The exit code, and what was printed."""
        printed, _ = self.process.communicate(timeout=60)
        return self.process.returncode, printed.decode()


class ProcessTest(unittest.TestCase):
    def test_a_whole_run(self):
        worker = Process(self, "--device", "cpu")
        ready, _ = worker.answer()
        self.assertEqual((ready["op"], ready["engine"], ready["device"]), ("ready", "pytorch", "cpu"))
        self.assertIn("fp32", ready["precisions"])
        self.assertIn("tensors", ready["counters"])
        done, losses = worker.trial(limit_bytes=1 << 30)
        self.assertEqual((done["op"], done["steps_run"], len(losses)), ("done", 4, 4))
        peak = done["memory"]["peak_bytes"]["tensors"]
        failed, _ = worker.trial(limit_bytes=peak - 1)
        self.assertEqual(failed["op"], "failed")
        self.assertIn("can't allocate memory", failed["text"])
        done, again = worker.trial(limit_bytes=peak)
        self.assertEqual((done["op"], again), ("done", losses))
        worker.send(v=1, op="exit")
        code, printed = worker.ended()
        self.assertEqual(code, 0, printed)
        self.assertIn("a batch", printed)
        self.assertIn("at import", printed)

    def test_the_harness_ends_in_the_middle_of_a_step(self):
        worker = Process(self)
        worker.answer()
        open(worker.path("stop"), "w").close()
        worker.send(**stubs.message(model="train.py"))
        while not os.path.exists(worker.path("stopped")):
            self.assertIsNone(worker.process.poll())
            time.sleep(0.02)
        worker.end_requests()
        self.assertEqual(worker.ended()[0], 0)

    def test_garbage(self):
        worker = Process(self)
        worker.answer()
        os.write(worker.requests, b"garbage\n")
        code, printed = worker.ended()
        self.assertNotEqual(code, 0)
        self.assertIn("broke the protocol", printed)

    def test_a_device_that_is_not_there(self):
        worker = Process(self, "--device", "cuda:99")
        failed, _ = worker.answer()
        self.assertEqual((failed["op"], failed["phase"]), ("failed", "start"))
        self.assertNotEqual(worker.ended()[0], 0)


if __name__ == "__main__":
    unittest.main()
