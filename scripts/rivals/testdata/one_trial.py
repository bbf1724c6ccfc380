"""One trial of the worker, without a limit that it knows of, under the counter in devlimit.c: how it ended, and what the counter saw."""

import ctypes
import json

import torch

import stubs
from autotune_worker import device, memory, trial

torch.set_num_threads(1)
wire = stubs.Wire()
work = stubs.message(model="nets:convolutional", input_shape=[3, 16, 16], micro_batch=16, limit_bytes=0)
trial.run(work, device.CpuDevice(), memory.CpuMemory(), wire)

counter = ctypes.CDLL(None)
counter.devlimit_peak.restype = counter.devlimit_refused.restype = ctypes.c_size_t
print(json.dumps(dict(wire.end, losses=wire.losses, counted=counter.devlimit_peak(), refused=counter.devlimit_refused())))
