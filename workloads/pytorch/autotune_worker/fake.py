"""Tasks of fake tensors. These have shapes, types and devices and no memory, so that training them shows what would be allocated.

A task is made in two parts. A sketch is built outside of the mode of fake tensors, in which much code that makes a model does
not run (it looks at values, it moves modules). Within the mode, each of its tensors is then replaced by a fake one.
"""

import itertools

import torch

from autotune_worker import adapter, compat, graph, library, nested, pool, storage
from autotune_worker import task as tasks


class Sketch:
    """What a fake task is made from.

    task: the task, whose own batches are not used. batches: batches() gives those of the fake one, on the host.
    other_bytes: of tensors on the host that are no part of model, optimizer and batches, such as a data set.
    """

    def __init__(self, task, batches, other_bytes=0):
        self.task = task
        self.batches = batches
        self.other_bytes = other_bytes

    def fake(self, device):
        """Gives the task with fake tensors on a device; the mode of fake tensors is on. The sketch is used up."""
        fakes = _Fakes(device)
        fakes.replace_model(self.task.model)
        fakes.replace_optimizer(self.task.optimizer)
        self.task.batches = self.batches()
        self.task.others = torch.empty(self.other_bytes, dtype=torch.uint8)
        return self.task


def sketch(work, micro_batch, precision):
    """Builds the sketch of a message's task for passes of micro_batch samples."""
    if work.get("graph"):
        return _graph(work, micro_batch, precision)
    if tasks.is_adapter(work["model"]):
        return _adapter(work, micro_batch, precision)
    return _library(work, micro_batch, precision)


def _graph(work, micro_batch, precision):
    """The built-in model, without values; its passes copy samples of a pool that is not counted, as in graph.build."""
    dtype = torch.float64 if precision == "fp64" else torch.float32
    model = graph.Graph(work["graph"], dtype)

    def batches():
        with storage.uncounted():
            inputs, targets = pool.empty(work["graph"], pool.size(micro_batch), dtype)
        return pool.passes(inputs, targets, micro_batch, False)

    return Sketch(tasks.Task(model, graph.make_optimizer(work, model, micro_batch), graph.loss, None, nested.samples), batches)


def _library(work, micro_batch, precision):
    """A model by name, of tensors without values where its code can be run so; its one batch serves every pass."""
    try:
        with torch.device("meta"):
            task = library.build(work, micro_batch, torch.device("meta"), precision)
    except Exception:  # of whatever kind: the model's code looks at values
        task = None
    if task is None or _hidden_meta(task.model):
        task = library.build(work, micro_batch, torch.device("cpu"), precision)
    batch = next(task.batches)
    return Sketch(task, lambda: itertools.repeat(nested.convert(_on_host, batch)))


def _hidden_meta(model):
    """Says whether a model keeps tensors without values where they are not found to be replaced: in plain attributes."""
    return any(isinstance(value, torch.Tensor) and value.is_meta for module in model.modules() for value in vars(module).values())


def _adapter(work, micro_batch, precision):
    """A user's own task, built for real up to its first batch; each pass has a batch like that one."""
    with storage.Ledger() as ledger:
        task = adapter.build(work, micro_batch, torch.device("cpu"), precision)
        batch = next(task.batches)
        known = {ledger.serial(t): compat.untyped_storage(t).nbytes() for t in itertools.chain(held(task), nested.tensors(batch))}
        known.pop(None, None)
        others = ledger.live - sum(known.values())
    task.batches = None  # a loader's processes end

    def batches():
        while True:
            fake = nested.convert(_on_host, batch)
            yield fake

    return Sketch(task, batches, others)


def held(task):
    """The tensors of a task's model and optimizer, as far as they are there."""
    yield from task.model.parameters()
    yield from task.model.buffers()
    yield from state(task.optimizer)


def state(optimizer):
    """The tensors of an optimizer's state, as far as they are there."""
    return nested.tensors([list(values.values()) for values in optimizer.state.values()])


def _like(tensor, device):
    """A tensor with the form of another one, without its values."""
    return torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=device)


def _on_host(tensor):
    return _like(tensor, "cpu")


class _Fakes:
    """Replaces tensors by fakes on a device, the same one wherever a tensor is used."""

    def __init__(self, device):
        self._device = device
        self._made = {}  # id of the tensor -> it, so that the id stays its own, and its fake

    def of(self, tensor):
        """The fake of a tensor; of a parameter a parameter."""
        if id(tensor) not in self._made:
            fake = _like(tensor, self._device)
            if isinstance(tensor, torch.nn.Parameter):
                fake = torch.nn.Parameter(fake, tensor.requires_grad)
            self._made[id(tensor)] = tensor, fake
        return self._made[id(tensor)][1]

    def replace_model(self, model):
        for module in model.modules():
            for name, parameter in module.named_parameters(recurse=False, remove_duplicate=False):
                setattr(module, name, self.of(parameter))
            for name, tensor in module.named_buffers(recurse=False, remove_duplicate=False):
                module._buffers[name] = self.of(tensor)

    def replace_optimizer(self, optimizer):
        for group in optimizer.param_groups:
            group["params"] = [self.of(parameter) for parameter in group["params"]]
            # torch takes many parameters at once on CUDA by itself, but not where they are fakes.
            if self._device.type == "cuda" and group.get("foreach", True) is None and not group.get("fused"):
                group["foreach"] = True
        for parameter in list(optimizer.state):
            optimizer.state[self.of(parameter)] = nested.convert(self._of_state, optimizer.state.pop(parameter))

    def _of_state(self, tensor):
        """A counter of steps lies on the host, whatever the device is."""
        return _like(tensor, "cpu" if tensor.dim() == 0 else self._device)
