"""One optimizer step, as real training does it, and its time."""

import time

from autotune_worker import errors


class Step:
    """What one step was: seconds by the synchronised clock, device_seconds by the device's events (None: it has none),
    loss as the mean over the step's samples, samples that it saw, and whether the loss scaler skipped the optimizer."""

    def __init__(self, seconds, device_seconds, loss, samples, skipped):
        self.seconds = seconds
        self.device_seconds = device_seconds
        self.loss = loss
        self.samples = samples
        self.skipped = skipped


class Stepper:
    """Trains a task: accumulation passes of micro_batch samples in each optimizer step.

    told is an object whose attribute phase is set to forward, backward, optimizer or step as a step goes on.
    """

    def __init__(self, task, device, precision, micro_batch, accumulation, told):
        self._task = task
        self._device = device
        self._precision = precision
        self._micro_batch = micro_batch
        self._accumulation = accumulation
        self._told = told
        self._seen_full = False
        self._scale = precision.scaler.get_scale() if precision.scaler else 0.0  # after the last step

    def timed(self):
        """One step with its time, from the moment that the device has nothing to do until it has again."""
        self._told.phase = "step"
        device = self._device
        device.synchronize()
        first = device.event()
        begun = time.perf_counter()
        losses = self.step()
        last = device.event()
        device.synchronize()
        seconds = time.perf_counter() - begun
        loss = sum(loss.item() for loss in losses)
        samples = self._micro_batch * self._accumulation
        return Step(seconds, device.seconds(first, last), loss, samples, self._skipped())

    def step(self):
        """One step, without waiting for the device. Gives each pass's part of the step's mean loss."""
        self._task.optimizer.zero_grad(set_to_none=True)
        losses = [self._pass() for _ in range(self._accumulation)]
        self._told.phase = "optimizer"
        scaler = self._precision.scaler
        if scaler is None:
            self._task.optimizer.step()
        else:
            scaler.step(self._task.optimizer)
            scaler.update()
        self._told.phase = "step"
        return losses

    def _pass(self):
        """Forward and backward of one micro-batch. Its loss counts by its share of the step's samples."""
        self._told.phase = "forward"
        batch = self._device.move(self._next())
        with self._precision.forward():
            loss = self._task.loss(self._task.model, batch)
        if self._accumulation > 1:
            loss = loss / self._accumulation
        self._told.phase = "backward"
        scaler = self._precision.scaler
        (loss if scaler is None else scaler.scale(loss)).backward()
        return loss.detach()

    def _next(self):
        """The next batch of micro_batch samples. A loader's shorter last one is left out, where a full one came before."""
        batch = next(self._task.batches)
        seen = self._task.samples(batch)
        if seen < self._micro_batch and self._seen_full:
            batch = next(self._task.batches)
            seen = self._task.samples(batch)
        if seen != self._micro_batch:
            text = "a batch of %d samples was asked for, and %d came: does the loader take micro_batch, and has the data set that many?"
            raise errors.WrongBatch(text % (self._micro_batch, seen), seen)
        self._seen_full = True
        return batch

    def _skipped(self):
        """Says whether the loss scaler left the last step out. It then makes its scale smaller, and only then."""
        scaler = self._precision.scaler
        if scaler is None:
            return False
        before, self._scale = self._scale, scaler.get_scale()
        return self._scale < before
