"""Bytes of tensors, exactly: each storage is counted once, from the operation that shows it until it dies."""

import contextlib
import os

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autotune_worker import compat

_expired = torch._C.StorageBase._expired
_release = torch._C.StorageBase._free_weak_ref


class Ledger(TorchDispatchMode):
    """Counts the bytes of the storages that operations return while it is entered, for real and for fake tensors.

    It may be entered several times; what it knows stays. It holds weak references alone, and so keeps no storage alive.
    What an operation allocates and frees inside itself is not seen.

    limit is in bytes, 0: none. Where the live bytes would pass it, torch's own out-of-memory error is raised: with a peak
    of P a limit of P runs and P - 1 fails. device_type counts the storages of one kind of device, such as "cuda"; None:
    of all. With log=True each change is kept in events.
    """

    def __init__(self, limit=0, device_type=None, log=False):
        super().__init__()
        self.limit = limit
        self.device_type = device_type
        self.phase = ""  # of training, set by who uses the ledger; events carry it
        self.peak = 0  # the highest live bytes so far
        # (kind, serial number of the storage, bytes, phase) in the order of time; kind is "alloc", "free" or "resize",
        # bytes are the storage's own, after a resize the new ones. None: not kept.
        self.events = [] if log else None
        self._live = 0  # those that died since the last sweep included
        self._known = {}  # address of the storage -> [serial number, bytes counted]
        self._serial = 0

    @property
    def live(self):
        """Bytes of the counted storages that are alive now."""
        self._sweep()
        return self._live

    def reset_peak(self):
        """Sets the peak to what is alive now."""
        self.peak = self.live

    def serial(self, tensor):
        """The serial number of a tensor's storage, as events have it; None: never seen."""
        entry = self._known.get(compat.untyped_storage(tensor)._cdata)
        return entry[0] if entry else None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = compat.call(func, args, kwargs or {})
        self._see(out)
        return out

    def _see(self, out):
        """Counts the storages of what an operation returned, and checks them against peak and limit."""
        grown = False
        for tensor in _tensors(out):
            storage = _storage(tensor)
            if storage is None:
                continue
            entry = self._known.get(storage._cdata)
            if entry is None:
                grown |= self._add(tensor, storage)
            elif entry[1] and entry[1] != storage.nbytes():
                grown |= self._resize(entry, storage.nbytes())
        if grown and (self._live > self.peak or 0 < self.limit < self._live):
            self._sweep()
            self._judge()

    def _judge(self):
        self.peak = max(self.peak, self._live)
        if 0 < self.limit < self._live:
            raise compat.OutOfMemoryError(
                "DefaultCPUAllocator: can't allocate memory: you tried to allocate {} bytes. "
                "(limit of autotune: {} bytes of tensors, {} wanted)".format(self._added, self.limit, self._live)
            )

    def _add(self, tensor, storage):
        """Begins to count a storage. The weak reference keeps its address from being used again."""
        if self.events is not None:
            self._sweep()
        counted = not _uncounted.depth and self.device_type in (None, tensor.device.type)
        size = storage.nbytes() if counted else 0
        self._serial += 1
        self._known[storage._weak_ref()] = [self._serial, size]
        self._note("alloc", self._serial, size)
        self._added = size
        self._live += size
        return size > 0

    def _resize(self, entry, size):
        self._added = size - entry[1]
        self._live += self._added
        entry[1] = size
        self._note("resize", entry[0], size)
        return self._added > 0

    def _sweep(self):
        """Lets go of the storages that have died."""
        for address in [a for a in self._known if _expired(a)]:
            serial, size = self._known.pop(address)
            self._live -= size
            self._note("free", serial, size)
            _release(address)

    def _note(self, kind, serial, size):
        if self.events is not None and size:
            self.events.append((kind, serial, size, self.phase))

    def __del__(self, release=_release):
        for address in getattr(self, "_known", ()):
            release(address)


class _Uncounted:
    depth = 0

    def enter(self):
        self.depth += 1


_uncounted = _Uncounted()

# The processes of a loader are made while a ledger is entered, and inherit it. Their tensors are not this process's.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_uncounted.enter)


@contextlib.contextmanager
def uncounted():
    """What is made inside is never counted, such as a data set that training reads its batches from."""
    _uncounted.enter()
    try:
        yield
    finally:
        _uncounted.depth -= 1


def _tensors(value):
    """The tensors in what an operation returned, however deep they lie in lists."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors(item)


def _storage(tensor):
    """A tensor's storage; None where it has none of its own, as sparse ones: their parts are tensors of their own."""
    try:
        return compat.untyped_storage(tensor)
    except (NotImplementedError, RuntimeError):
        return None
