"""Bytes of torch's allocator on the CPU, those inside operations included, from the memory events of torch's profiler."""

import os

import torch

from autotune_worker import compat

# The profiler's library prints warnings below this level.
os.environ.setdefault("KINETO_LOG_LEVEL", "99")


class Allocations:
    """Counts while it is entered. Blocks that are older are not counted, neither when they are freed."""

    def __init__(self):
        # torch.profiler.profile does the same, and first imports the compiler for two seconds.
        self._profile = torch.autograd.profiler.profile(profile_memory=True, use_kineto=True)
        self.peak = 0  # bytes, the highest at any moment; set on leaving

    def __enter__(self):
        self._profile.__enter__()
        return self

    def __exit__(self, *_):
        self._profile.__exit__(None, None, None)
        self.peak = _peak(self._profile.kineto_results.experimental_event_tree())
        self._profile = None


def can_count():
    """Says whether the profiler of this torch tells the bytes of a block. Before 2.0 its events are of another form."""
    if compat.version() < (2, 0):
        return False
    try:
        with Allocations() as allocations:
            torch.empty(1000)
    except (AttributeError, RuntimeError):
        return False
    return allocations.peak == 4000


def _peak(roots):
    """Adds up the events of a tree in the order of time: a block's bytes when it is made, less them when it is freed."""
    changes, waiting = [], list(roots)
    while waiting:
        event = waiting.pop()
        if event.tag == torch._C._profiler._EventType.Allocation:
            changes.append((event.start_time_ns, event.extra_fields.alloc_size))
        waiting.extend(event.children)
    changes.sort(key=lambda change: change[0])
    live = peak = 0
    for _, size in changes:
        live += size
        peak = max(peak, live)
    return peak
