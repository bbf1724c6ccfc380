"""A bare loop of PyTorch: the steps of a trial message on standard input, without a worker. The model is built by the
worker's package, which has to be on PYTHONPATH; all else is as one would write it."""

import json
import os
import sys
import time

import torch

from autotune_worker.task import build


def step(task):
    task.optimizer.zero_grad(set_to_none=True)
    batch = next(task.batches)
    loss = task.loss(task.model, batch)
    loss.backward()
    task.optimizer.step()
    loss.item()
    return task.samples(batch)


def main():
    trial = json.load(sys.stdin)
    if "OMP_NUM_THREADS" not in os.environ:  # Debian's torch has one thread unless told
        torch.set_num_threads(len(os.sched_getaffinity(0)))
    task = build(trial, trial["micro_batch"], torch.device("cpu"), trial["precision"])
    task.model.train()
    for _ in range(trial["warmup_steps"]):
        step(task)
    steps, samples = [], 0
    begun = time.perf_counter()
    while len(steps) < trial["steps"] or sum(steps) < trial["seconds"]:
        before = time.perf_counter()
        samples += step(task)
        steps.append(time.perf_counter() - before)
    json.dump({"steps": steps, "seconds": time.perf_counter() - begun, "samples": samples}, sys.stdout)


main()
