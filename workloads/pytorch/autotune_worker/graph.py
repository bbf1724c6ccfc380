"""The built-in models: a graph of layers from the harness (docs/protocol.md), as ordinary torch modules.

Weights and data are those that every engine makes alike from the seed (docs/models.md).
"""

import re

import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils import skip_init

from autotune_worker import nested, optimizers, pool, storage, stream
from autotune_worker.errors import Unsupported
from autotune_worker.task import Task


def build(work, micro_batch, device, precision):
    """Builds the task of a message with a graph; see task.build."""
    graph = work["graph"]
    dtype = torch.float64 if precision == "fp64" else torch.float32
    model = Graph(graph, dtype)
    with storage.uncounted(), torch.no_grad():
        fill(model, graph, work["seed"])
        inputs, targets = pool.make(graph, work["seed"], pool.size(micro_batch), dtype)
    model.to(device)
    optimizer = make_optimizer(work, model, micro_batch)
    batches = pool.passes(inputs, targets, micro_batch, device.type == "cuda")
    facts = {
        "input_shape": graph["input_shape"],
        "classes": graph["classes"],
        "sample_unit": "sequence" if graph["vocabulary"] > 0 else "image",
    }
    return Task(model, optimizer, loss, batches, nested.samples, facts=facts)


def make_optimizer(work, model, micro_batch):
    """The optimizer of a model of the work's graph."""
    samples = micro_batch * work["accumulation_steps"]
    decaying, others = [], []
    for _, param, tensor in parameters(model, work["graph"]):
        (decaying if param["decay"] else others).append(tensor)
    return optimizers.for_graph(work["optimizer"], decaying, others, work["graph"]["recipe"], samples)


def loss(model, batch):
    """The mean cross-entropy over all predictions of a batch."""
    inputs, targets = batch
    logits = model(inputs)
    return functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))


def fill(model, graph, seed):
    """Gives all parameters their first values."""
    for layer, param, tensor in parameters(model, graph):
        tensor = as_described(layer, tensor)
        if param["init"] == "constant":
            tensor.fill_(param["scale"])
            continue
        values = torch.empty(param["shape"], dtype=tensor.dtype)
        draw = stream.uniform if param["init"] == "uniform" else stream.normal
        stream.fill(values, seed, param["name"], draw, param["scale"])
        tensor.copy_(values)


def parameters(model, graph):
    """Gives each parameter, in the graph's order: its layer's description, its own, and its tensor in the model."""
    for layer in graph["layers"]:
        for param in layer.get("params") or []:
            own_name = param["name"][len(layer["name"]) + 1 :]
            yield layer, param, getattr(model.layer(layer["name"]), own_name)


def as_described(layer, tensor):
    """A parameter's tensor, or its gradient, in the shape that the graph gives it: the weights of a torch.nn.Linear are (out, in)."""
    return tensor.t() if layer["op"] == "linear" and tensor.dim() == 2 else tensor


class Layers(nn.Module):
    """Layers that run one after another. Each takes outputs of layers before it; the last one's output is the whole's."""

    def __init__(self, source, layers):
        """source is the name of what comes in; layers are (name, module, names of its inputs)."""
        super().__init__()
        self._source, self._plan = source, layers
        last_use = {name: at for at, (_, _, inputs) in enumerate(layers) for name in inputs}
        self._drop = [[name for name in last_use if last_use[name] == at] for at in range(len(layers))]

    def forward(self, x):
        values = {self._source: x}
        for (name, module, inputs), drop in zip(self._plan, self._drop):
            y = module(*[values[i] for i in inputs])
            for old in drop:  # what no later layer takes is let go of
                del values[old]
            values[name] = y
        return y


class Graph(Layers):
    """A whole model. Layers of one residual or transformer block, such as layer1.0.* and h.0.*, are modules of their own."""

    def __init__(self, graph, dtype):
        modules = {layer["name"]: _module(layer, dtype) for layer in graph["layers"] if layer["op"] != "input"}
        source = next(layer["name"] for layer in graph["layers"] if layer["op"] == "input")
        children, plan = [], []
        for block, run in _blocks([layer for layer in graph["layers"] if layer["op"] != "input"]):
            steps = [(layer["name"], modules[layer["name"]], layer["inputs"]) for layer in run]
            if block is None:
                children.extend((name, module) for name, module, _ in steps)
                plan.extend(steps)
                continue
            inner = Layers(_outside(run).pop(), steps)
            for name, module, _ in steps:
                inner.add_module(_plain(name[len(block) + 1 :]), module)
            children.append((block, inner))
            plan.append((run[-1]["name"], inner, list(_outside(run))))
        super().__init__(source, plan)
        self._by_name = modules
        for name, module in children:
            _attach(self, name, module)

    def layer(self, name):
        """The module of one layer; None for the input."""
        return self._by_name.get(name)


def _attach(model, name, module):
    """Adds a child; a block, such as layer1.0, goes into a list of its own, so that it is found as one of several."""
    if not isinstance(module, Layers):
        model.add_module(_plain(name), module)
        return
    group, index = _BLOCK.match(name + ".").groups()
    if not hasattr(model, _plain(group)):
        model.add_module(_plain(group), nn.ModuleList())
    getattr(model, _plain(group)).add_module(index, module)


def _plain(name):
    return name.replace(".", "_")


# The name of a layer within a block: the group, the block's number, the layer.
_BLOCK = re.compile(r"(.+?)\.(\d+)\.")


def _blocks(layers):
    """Splits layers into runs: (name of the block, its layers), the name None where they are no block."""
    runs = []
    for layer in layers:
        match = _BLOCK.match(layer["name"])
        block = match and match.group(0)[:-1]
        if runs and runs[-1][0] == block:
            runs[-1][1].append(layer)
        else:
            runs.append((block, [layer]))
    return [(block if block and _closed(run, layers) else None, run) for block, run in runs]


def _closed(run, layers):
    """Says whether a run takes one output from outside and gives its last one alone."""
    inner = {layer["name"] for layer in run}
    taken = {i for layer in layers if layer["name"] not in inner for i in layer["inputs"]}
    return len(_outside(run)) == 1 and taken & inner <= {run[-1]["name"]}


def _outside(run):
    inner = {layer["name"] for layer in run}
    return {i for layer in run for i in layer["inputs"]} - inner


def _module(layer, dtype):
    """Makes the module of one layer, without first values."""
    op, params = layer["op"], layer.get("params") or []
    shape = params[0]["shape"] if params else None
    bias = len(params) == 2
    if op == "linear":
        return skip_init(nn.Linear, shape[0], shape[1], bias=bias, dtype=dtype)
    if op == "conv":
        return skip_init(nn.Conv2d, shape[1], shape[0], layer["kernel"], layer["stride"], layer["pad"], bias=bias, dtype=dtype)
    if op == "batch_norm":
        return nn.BatchNorm2d(shape[0], eps=layer["epsilon"], momentum=layer["momentum"], dtype=dtype)
    if op == "layer_norm":
        return nn.LayerNorm(shape[0], eps=layer["epsilon"], dtype=dtype)
    if op == "embedding":
        return skip_init(nn.Embedding, shape[0], shape[1], dtype=dtype)
    if op == "positions":
        return Positions(shape, dtype)
    if op == "attention":
        return Attention(layer["heads"])
    if op == "max_pool":
        return nn.MaxPool2d(layer["kernel"], layer["stride"], layer["pad"])
    plain = {"relu": nn.ReLU, "add": Add, "flatten": nn.Flatten, "global_average_pool": GlobalAveragePool}
    if op in plain:
        return plain[op]()
    if op == "gelu":
        return nn.GELU(approximate="tanh")
    raise Unsupported("layer %r: the operation %r is not known to this engine" % (layer["name"], op))


class Add(nn.Module):
    """The sum of two inputs."""

    def forward(self, a, b):
        return a + b


class GlobalAveragePool(nn.Module):
    """The mean of each channel over the image."""

    def forward(self, x):
        return x.mean((2, 3))


class Positions(nn.Module):
    """Adds a trained vector to each place of a sequence."""

    def __init__(self, shape, dtype):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(shape, dtype=dtype))

    def forward(self, x):
        return x + self.weight


class Attention(nn.Module):
    """Causal self-attention over query, key and value that lie side by side: (batch, tokens, 3 width) becomes (batch, tokens, width)."""

    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def forward(self, x):
        batch, tokens, width = x.shape[0], x.shape[1], x.shape[2] // 3
        query, key, value = x.view(batch, tokens, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        return causal_attention(query, key, value).transpose(1, 2).reshape(batch, tokens, width)


def _causal_attention_in_parts(query, key, value):
    """softmax(query key^T / sqrt(size)) value, where no place looks at a later one (Vaswani et al., arXiv 1706.03762, section 3.2)."""
    tokens = query.shape[-2]
    later = torch.ones(tokens, tokens, dtype=torch.bool, device=query.device).triu(1)
    scores = query @ key.transpose(-2, -1) * query.shape[-1] ** -0.5
    return scores.masked_fill(later, float("-inf")).softmax(-1) @ value


def _causal_attention_fused(query, key, value):
    return functional.scaled_dot_product_attention(query, key, value, is_causal=True)


# torch has it in one operation from 2.0.
causal_attention = _causal_attention_fused if hasattr(functional, "scaled_dot_product_attention") else _causal_attention_in_parts
