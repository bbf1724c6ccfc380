"""One trial: the model is built, warmed up and timed, and everything is let go of again."""

import re
import time

import torch

from autotune_worker import compat, errors, knobs, steps, task, traceback_text
from autotune_worker.precision import Precision

# Warm-up goes on for so many steps at most, until the loss scaler has let one through: the first one through makes the
# optimizer's state, which belongs to the peak.
_LONGEST_WARMUP = 20

# The least time between two looks at what is held, in seconds: a look costs time too.
_HELD_EVERY = 0.05

# A longer text of an error keeps its beginning and its end, each of half so many characters; a line of the protocol has
# room for it, whatever JSON makes of it.
_LONGEST_TEXT = 64 << 10

# After these errors a CUDA context is of no more use (CUDA Runtime API, cudaError: "the process must be terminated and relaunched").
_FATAL = re.compile(
    r"illegal memory access|device-side assert|illegal instruction|misaligned address|unspecified launch failure|"
    r"invalid program counter|invalid address space|hardware stack error|launch timed out|uncorrectable ECC"
)


def run(work, device, memory, out):
    """Runs the trial of a message (a dict) and says its steps and its end on out, a wire.Wire.

    memory is that of the device (memory.of). Gives False where the process cannot go on.
    """
    compiled = "compile=on" in work.get("knobs", "").split(",")
    meter = memory.trial(work["limit_bytes"], compiled)
    trial = _Trial(work, device, meter, compiled, out)
    failure = None
    try:
        trial.train()
    except BaseException as error:  # a user's sys.exit() too
        failure = describe(error, trial.phase)
    # The exception is gone here, and with it the frames that held tensors.
    if failure and device.kind == "cuda" and _FATAL.search(failure["text"]):
        out.say("failed", **failure)
        return False
    found = meter.read()
    ended = trial.ended
    trial.close()
    del trial
    if compiled:
        compat.forget_compiled()
    device.release()
    found["after_bytes"] = meter.after()
    if failure:
        out.say("failed", memory=found, **failure)
    else:
        out.say("done", memory=found, **ended)
    return True


def describe(error, phase):
    """The fields of a failed message. It keeps nothing of the error."""
    if isinstance(error, errors.WorkerError):
        return dict(error.fields(), type=error.failed_type, phase=phase, text=_shortened(str(error)))
    kind = type(error)
    name = kind.__name__ if kind.__module__ == "builtins" else kind.__module__ + "." + kind.__name__
    return {"type": name, "phase": phase, "text": _shortened(traceback_text.of(error))}


def _shortened(text):
    if len(text) <= _LONGEST_TEXT:
        return text
    half = _LONGEST_TEXT // 2
    return text[:half] + "\n[...]\n" + text[-half:]


class _Trial:
    """A trial that runs. phase is where it is; ended are the fields of done, once it is there."""

    def __init__(self, work, device, meter, compiled, out):
        self.phase = "build"
        self.ended = None
        self._work = work
        self._device = device
        self._meter = meter
        self._compiled = compiled
        self._out = out
        self._task = None
        self._stepper = None
        self._run = self._skipped = 0
        self._looked = 0.0  # when what is held was

    def train(self):
        self._check()
        with self._meter.counting():
            self._build()
            self._warm_up()
        self._meter.sample()
        nothing = knobs.changed_nothing(self._task)
        if nothing:
            raise errors.Unsupported(nothing)
        self._time()
        self.ended = {"steps_run": self._run, "skipped_steps": self._skipped}

    def close(self):
        """Lets go of task and stepper by themselves. Left to the collector of cycles, a loader would wait for its
        processes, whose queues are gone by then, until torch's time for that is up."""
        self._task = self._stepper = None

    def _check(self):
        if self._compiled and self._device.kind == "cpu" and self._work["limit_bytes"]:
            raise errors.Unsupported(
                "compile=on on the CPU: tensors in compiled code cannot be counted, so that no limit can be held; --memory-limit none runs it"
            )

    def _build(self):
        work = self._work
        torch.manual_seed(work["seed"] % 2**63)
        self._task = task.build(work, work["micro_batch"], self._device.place, work["precision"])
        knobs.apply(work.get("knobs", ""), self._task, self._device.place)
        precision = Precision(work["precision"], self._device.kind)
        self._stepper = steps.Stepper(self._task, self._device, precision, work["micro_batch"], work["accumulation_steps"], self)

    def _warm_up(self):
        most = max(self._work["warmup_steps"], _LONGEST_WARMUP if self._work["precision"] == "fp16" else 0)
        while self._run < self._work["warmup_steps"] or (self._run == self._skipped and self._run < most):
            self._step(True)

    def _time(self):
        timed, seconds = 0, 0.0
        while timed < self._work["steps"] or seconds < self._work["seconds"]:
            seconds += self._step(False)
            timed += 1

    def _step(self, warmup):
        step = self._stepper.timed()
        self._run += 1
        self._skipped += step.skipped
        self._out.step(step, warmup, None if warmup else self._held())
        return step.seconds

    def _held(self):
        """What is held now, where it was not looked at for a while; else None."""
        now = time.perf_counter()
        if now - self._looked < _HELD_EVERY:
            return None
        self._looked = now
        return self._meter.held()
