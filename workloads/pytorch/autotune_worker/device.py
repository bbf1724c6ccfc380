"""The device that is trained on: how it is waited for, how a batch gets there, how its time and memory are set back."""

import ctypes
import gc
import sys

import torch

from autotune_worker import compat, nested


def of(name):
    """The device of a name: cpu, cuda or cuda:N."""
    place = torch.device(name)
    if place.type == "cuda":
        if not torch.cuda.is_available():
            raise RuntimeError("--device %s: torch %s sees no CUDA device; --device cpu trains on the CPU" % (name, torch.__version__))
        return CudaDevice(torch.device("cuda", place.index or 0))
    return CpuDevice()


class CpuDevice:
    """The CPU: every operation is done when its call returns, and a batch is there already."""

    kind = "cpu"

    def __init__(self):
        self.place = self.tensors = torch.device("cpu")

    def synchronize(self):
        """Waits until the device has nothing more to do."""

    def event(self):
        """Marks this moment in the device's own time; None: it has none."""
        return None

    def seconds(self, begun, ended):
        """Seconds between two events, after synchronize; None: the device has no time of its own."""
        return None

    def move(self, batch):
        """The batch on the device."""
        return batch

    def release(self):
        """Gives back all memory that nothing refers to.

        Where a backward pass failed, torch's autograd may hold tensors of it until this thread's next backward pass.
        """
        torch.zeros((), requires_grad=True).backward()
        gc.collect()
        _trim()


class CudaDevice:
    """One CUDA device. place is its torch.device, tensors the one that tensors go to; cuda is the module torch.cuda.

    Tests put a stand-in for that module, and the CPU for tensors, so that this code runs where there is no GPU.
    """

    kind = "cuda"

    def __init__(self, place, cuda=torch.cuda, tensors=None):
        self.place = place
        self.tensors = tensors or place
        self.cuda = cuda

    def synchronize(self):
        self.cuda.synchronize(self.place)

    def event(self):
        event = self.cuda.Event(enable_timing=True)
        event.record()
        return event

    def seconds(self, begun, ended):
        return begun.elapsed_time(ended) / 1000

    def move(self, batch):
        """Copies without waiting: where the batch lies in pinned memory, the CPU goes on meanwhile."""
        return nested.convert(self._move, batch)

    def _move(self, tensor):
        return tensor.to(self.tensors, non_blocking=True)

    def release(self):
        gc.collect()
        compat.clear_cublas_workspaces()
        self.cuda.empty_cache()
        _trim()


def _trim():
    """Gives free memory back to the system, where the C library is glibc."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim:
            trim(0)
