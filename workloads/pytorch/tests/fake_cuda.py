"""A stand-in for torch.cuda over tensors on the CPU. It keeps real counters: what it says is allocated is what tensors hold."""

import time

from autotune_worker import compat, storage

# Memory is reserved in pieces of so many bytes.
PIECE = 1 << 16


class Cuda:
    """A card of total bytes. Operations count while it is entered. others is what other processes hold of it."""

    context = 3 * PIECE

    def __init__(self, total=1 << 26):
        self.total = total
        self.others = 0
        self.calls = []  # names of synchronize, record and empty_cache, in the order of time
        self.retries = self.ooms = 0
        self.limit = total
        self._ledger = _Allocator(self)
        self._reserved = self._peak_reserved = 0

    def __enter__(self):
        self._ledger.__enter__()
        return self

    def __exit__(self, *error):
        self._ledger.__exit__(*error)

    def reserve(self, live):
        """Reserves for live bytes, after giving back what is not used where that is too much."""
        wanted = max(self._reserved, _pieces(live))
        if wanted > self._most():
            self.retries += 1
            wanted = _pieces(live)
        if wanted > self._most():
            self.ooms += 1
            raise compat.OutOfMemoryError("CUDA out of memory. Tried to allocate %d bytes." % live)
        self._reserved = wanted
        self._peak_reserved = max(self._peak_reserved, wanted)

    def _most(self):
        return min(self.limit, self.total - self.others - self.context)

    def free(self):
        """Free bytes of the card, as a process without a context sees them."""
        return self.total - self.others - self._reserved - self.context

    # What follows has the names of torch.cuda.

    def set_device(self, place):
        pass

    def mem_get_info(self, place):
        return self.free(), self.total

    def memory_allocated(self, place):
        return self._ledger.live

    def memory_reserved(self, place):
        return self._reserved

    def max_memory_allocated(self, place):
        return self._ledger.peak

    def max_memory_reserved(self, place):
        return self._peak_reserved

    def reset_peak_memory_stats(self, place):
        self._ledger.reset_peak()
        self._peak_reserved = self._reserved

    def memory_stats(self, place):
        return {"num_alloc_retries": self.retries, "num_ooms": self.ooms}

    def set_per_process_memory_fraction(self, fraction, place):
        self.limit = int(fraction * self.total)

    def empty_cache(self):
        self.calls.append("empty_cache")
        self._reserved = _pieces(self._ledger.live)

    def synchronize(self, place):
        self.calls.append("synchronize")

    def Event(self, enable_timing):
        return _Event(self.calls)


class _Allocator(storage.Ledger):
    """Reserves on the card whenever more is live than ever."""

    def __init__(self, cuda):
        super().__init__(limit=1)
        self._cuda = cuda

    def _judge(self):
        self._cuda.reserve(self._live)
        self.peak = max(self.peak, self._live)


class _Event:
    def __init__(self, calls):
        self._calls = calls
        self.at = None

    def record(self):
        self._calls.append("record")
        self.at = time.perf_counter()

    def elapsed_time(self, later):
        return (later.at - self.at) * 1000


class Scaler:
    """A loss scaler that works on tensors on the CPU, with the rule of torch's: half the scale after a gradient that is not finite."""

    def __init__(self, first=65536.0):
        self._scale = first
        self._finite = True

    def get_scale(self):
        return self._scale

    def scale(self, loss):
        return loss * self._scale

    def step(self, optimizer):
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"]]
        for gradient in gradients:
            gradient.div_(self._scale)
        self._finite = all(bool(gradient.isfinite().all()) for gradient in gradients)
        if self._finite:
            optimizer.step()

    def update(self):
        if not self._finite:
            self._scale /= 2


def _pieces(size):
    return -(-size // PIECE) * PIECE
