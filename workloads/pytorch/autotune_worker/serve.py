"""The worker: it says ready, then runs one trial or prediction after the other."""

import contextlib
import gc
import importlib
import os
import platform

import torch

from autotune_worker import device as devices
from autotune_worker import memory, precision, predict, trial


class Worker:
    """A worker on the device of a name, as --device has it, that answers on a wire.Wire.

    package is imported before the worker is ready, so that no trial waits for it; None: none is.
    """

    def __init__(self, name, out, package=None):
        _import(package)
        _use_all_cores()
        self._out = out
        self._device = devices.of(name)
        self._memory = memory.of(self._device)

    def run(self):
        """Serves until the harness asks for the end (True), or until the process cannot go on (False)."""
        facts = self._facts()
        gc.freeze()
        self._out.say("ready", **facts)
        first = True
        folder = os.getcwd()
        while True:
            message = self._out.receive()
            os.chdir(folder)  # a user's code may have gone elsewhere, and the model's file is found from here
            if message["op"] == "exit":
                return True
            if message["op"] == "predict":
                self._predict(message)
            elif not trial.run(message, self._device, self._memory, self._out):
                return False
            if first:
                # The libraries that the model needs are there, and stay. To look through them for garbage after each
                # trial takes longer than many a trial: 0.2 seconds with torch 2.15 and torchvision.
                gc.freeze()
            first = False

    def _facts(self):
        refusals = precision.probe(self._device.place)
        versions = {"python": platform.python_version(), "torch": torch.__version__}
        if self._device.kind == "cuda":
            versions["cuda"] = torch.version.cuda
        return {
            "engine": "pytorch",
            "device": str(self._device.place),
            "precisions": [name for name, why in refusals.items() if not why],
            "counters": self._memory.counters,
            "versions": versions,
        }

    def _predict(self, message):
        failure = answer = None
        try:
            answer = predict.answer(message, self._device.place)
        except BaseException as error:
            failure = trial.describe(error, "predict")
        # Outside of the except block, so that what the exception's frames held goes too.
        self._device.release()
        if failure:
            self._out.say("failed", **failure)
        else:
            self._out.say("predicted", **answer)


def _import(package):
    """Imports a package. Where that fails, the trial that needs it says why."""
    if package:
        with contextlib.suppress(BaseException):  # a user's module may do anything
            importlib.import_module(package)


def _use_all_cores():
    """Debian's torch uses one thread unless told; OMP_NUM_THREADS is the user's own choice."""
    if "OMP_NUM_THREADS" in os.environ:
        return
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    torch.set_num_threads(usable or 1)
