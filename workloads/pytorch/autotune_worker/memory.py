"""What a trial took of memory, by counter (docs/protocol.md)."""

import contextlib

import torch

from autotune_worker import allocations, nvml, resident, storage


def of(device):
    """The memory of a device.CpuDevice or device.CudaDevice. Make it before anything else uses the device."""
    return CpuMemory() if device.kind == "cpu" else CudaMemory(device)


def device_memory(place):
    """Total and free bytes of a torch.device of the kind cuda; None: the device is the host."""
    if place.type != "cuda":
        return None
    free, total = torch.cuda.mem_get_info(place)
    return {"total": total, "free": free}


class CpuMemory:
    """Counters of the CPU: tensors; allocated where the profiler can count; resident where Linux sets its peak back."""

    def __init__(self):
        self._allocated = allocations.can_count()
        self._resident = resident.reset_peak()
        names = [("tensors", True), ("allocated", self._allocated), ("resident", self._resident)]
        self.counters = [name for name, there in names if there]

    def trial(self, limit, compiled):
        """The meter of one trial. limit is in bytes of tensors, 0: none. In compiled code tensors are not seen.

        Where there is no limit to hold, the allocator's bytes tell more than those of tensors, and cost less to count.
        """
        allocated = self._allocated and not limit and not compiled
        return CpuMeter(limit, not allocated and not compiled, allocated, self._resident)


class CpuMeter:
    """The memory of one trial on the CPU."""

    def __init__(self, limit, tensors, allocated, resident_too):
        self._ledger = storage.Ledger(limit) if tensors else None
        self._allocations = allocations.Allocations() if allocated else None
        self._resident = resident_too and resident.reset_peak()
        self._baseline = self._now()

    @contextlib.contextmanager
    def counting(self):
        """In this context tensors are counted and the limit is held; it makes operations slower."""
        with contextlib.ExitStack() as stack:
            for counter in (self._allocations, self._ledger):
                if counter is not None:
                    stack.enter_context(counter)
            yield

    def sample(self):
        """Reads what has no peak counter of its own."""

    def held(self):
        """Bytes of this process in memory now; None: the system does not say."""
        return resident.now()

    def read(self):
        """The memory of a done or failed message, after the steps."""
        peak = {}
        if self._ledger is not None:
            peak["tensors"] = self._ledger.peak
        if self._allocations is not None:
            peak["allocated"] = self._allocations.peak
        if self._resident:
            peak["resident"] = resident.peak()
        return {"baseline_bytes": self._baseline, "peak_bytes": peak, "peak_reset": True}

    def after(self):
        """Bytes by counter after everything was let go of."""
        return self._now()

    def _now(self):
        now = {}
        if self._ledger is not None:
            now["tensors"] = self._ledger.live
        if self._resident:
            now["resident"] = resident.now()
        return now


class CudaMemory:
    """Counters of a CUDA device: allocated and reserved by torch's allocator, device_used by all processes, and, where
    NVIDIA's management library answers, what of it is this process's context and what other processes'.

    context is known in this way: the management library says how much is free before this process touches the device,
    and again after the context was made and the first convolution and matrix product have loaded their libraries; the
    difference, less what the allocator reserved, is this process's. Another process that comes or goes in this second is
    counted with it, and kernels that are loaded later are counted with the others.
    """

    def __init__(self, device):
        self._device = device
        free = nvml.free(device.place.index or 0)
        device.cuda.set_device(device.place)  # events are recorded there
        _load_libraries(device)
        self._context = self._measure_context(free)
        device.release()
        self.counters = ["allocated", "reserved", "device_used"]
        if self._context is not None:
            self.counters += ["other_processes", "context"]
        # Of the worker's life; each trial should begin and end with it.
        self.baseline = device.cuda.memory_allocated(device.place)

    def trial(self, limit, compiled):
        """The meter of one trial. limit is in bytes that the allocator may reserve, 0: all that the device has."""
        self._hold(limit)
        return CudaMeter(self._device, self._context)

    def _hold(self, limit):
        """The allocator takes a part of the device's memory, and cuts the product down to whole bytes: half a byte more gives just the limit."""
        device = self._device
        total = device.cuda.mem_get_info(device.place)[1]
        device.cuda.set_per_process_memory_fraction(min(1.0, (limit + 0.5) / total) if limit else 1.0, device.place)

    def _measure_context(self, free_before):
        free_after = nvml.free(self._device.place.index or 0)
        if free_before is None or free_after is None:
            return None
        return max(0, free_before - free_after - self._device.cuda.memory_reserved(self._device.place))


class CudaMeter:
    """The memory of one trial on a CUDA device, from peak counters that were set back."""

    def __init__(self, device, context):
        self._device = device
        self._cuda = device.cuda
        self._context = context
        self._sampled = {}
        self._cuda.reset_peak_memory_stats(device.place)
        self._retries = self._retried()
        self._baseline = self._now()

    def counting(self):
        """The allocator counts by itself."""
        return contextlib.nullcontext()

    def sample(self):
        """Reads what has no peak counter of its own: what all processes have of the device."""
        free, total = self._cuda.mem_get_info(self._device.place)
        now = {"device_used": total - free}
        if self._context is not None:
            reserved = self._cuda.memory_reserved(self._device.place)
            now["context"] = self._context
            now["other_processes"] = max(0, total - free - reserved - self._context)
        for name, size in now.items():
            self._sampled[name] = max(size, self._sampled.get(name, 0))

    def held(self):
        """Bytes that tensors have on the device now."""
        return self._cuda.memory_allocated(self._device.place)

    def read(self):
        """The memory of a done or failed message, after the steps."""
        self.sample()
        peak = {
            "allocated": self._cuda.max_memory_allocated(self._device.place),
            "reserved": self._cuda.max_memory_reserved(self._device.place),
        }
        peak.update(self._sampled)
        return {
            "baseline_bytes": self._baseline,
            "peak_bytes": peak,
            "peak_reset": True,
            "allocator_retries": self._retried() - self._retries,
        }

    def after(self):
        """Bytes by counter after everything was let go of."""
        return self._now()

    def _now(self):
        place = self._device.place
        return {"allocated": self._cuda.memory_allocated(place), "reserved": self._cuda.memory_reserved(place)}

    def _retried(self):
        return self._cuda.memory_stats(self._device.place).get("num_alloc_retries", 0)


def _load_libraries(device):
    """Runs one convolution and one matrix product, forward and backward, so that cuDNN and cuBLAS are there."""
    convolution = torch.nn.Conv2d(3, 8, 3).to(device.tensors)
    linear = torch.nn.Linear(8, 8).to(device.tensors)
    linear(convolution(torch.ones(2, 3, 8, 8, device=device.tensors)).mean((2, 3))).sum().backward()
    device.synchronize()
