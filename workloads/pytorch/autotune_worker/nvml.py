"""Free memory of a GPU before this process has anything on it: NVIDIA's management library, which comes with the driver."""

import ctypes
import os


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


def free(index):
    """Free bytes of the CUDA device of that number, without making a context there; None: the library does not say.

    The number is looked up in CUDA_VISIBLE_DEVICES as CUDA does it.
    """
    try:
        return _free(ctypes.CDLL("libnvidia-ml.so.1"), _identity(index))
    except (OSError, AttributeError, IndexError, ValueError):
        return None


def _identity(index):
    """A GPU's number, or its UUID (GPU-... or MIG-...), behind the number that CUDA gives it."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    entry = visible.split(",")[index].strip() if visible else str(index)
    return entry if entry.startswith(("GPU-", "MIG-")) else int(entry)


def _free(library, identity):
    if library.nvmlInit_v2() != 0:
        return None
    handle, memory = ctypes.c_void_p(), _Memory()
    if isinstance(identity, int):
        found = library.nvmlDeviceGetHandleByIndex_v2(identity, ctypes.byref(handle))
    else:
        found = library.nvmlDeviceGetHandleByUUID(identity.encode(), ctypes.byref(handle))
    if found != 0 or library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) != 0:
        return None
    return memory.free
