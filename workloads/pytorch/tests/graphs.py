"""Small graphs, in the form in which the harness sends them."""


def graph(input_shape, layers, classes, vocabulary=0, predictions=1, **recipe):
    whole = {"global_batch": 8, "learning_rate": 0.1, "weight_decay": 0.01}
    whole.update(recipe)
    first = {"name": "input", "op": "input", "inputs": [], "params": []}
    return {
        "recipe": whole,
        "vocabulary": vocabulary,
        "classes": classes,
        "predictions": predictions,
        "input_shape": input_shape,
        "layers": [first] + layers,
    }


def layer(name, op, inputs, params=(), **fields):
    return dict({"name": name, "op": op, "inputs": inputs, "params": list(params)}, **fields)


def weight(name, shape, scale=0.5, init="normal"):
    return {"name": name + ".weight", "shape": shape, "init": init, "scale": scale, "decay": True}


def constant(name, size, scale):
    return {"name": name, "shape": [size], "init": "constant", "scale": scale, "decay": False}


def linear(name, source, inputs, outputs, init="uniform"):
    return layer(name, "linear", [source], [weight(name, [inputs, outputs], 0.5, init), constant(name + ".bias", outputs, 0.0)])


def conv(name, source, inputs, filters):
    return layer(name, "conv", [source], [weight(name, [filters, inputs, 3, 3], 0.3)], kernel=3, stride=1, pad=1)


def norm(name, source, size, op="batch_norm"):
    params = [constant(name + ".weight", size, 1.0), constant(name + ".bias", size, 0.0)]
    return layer(name, op, [source], params, epsilon=1e-5, momentum=0.1)


def residual(blocks=2, side=6, width=4, classes=3):
    """A residual network of blocks layer1.0, layer1.1 and so on, of a convolution and a normalisation each."""
    layers, last = [conv("conv1", "input", 2, width)], "conv1"
    for i in range(blocks):
        name = "layer1.%d" % i
        layers += [
            conv(name + ".conv1", last, width, width),
            norm(name + ".bn1", name + ".conv1", width),
            layer(name + ".relu1", "relu", [name + ".bn1"]),
            layer(name + ".add", "add", [name + ".relu1", last]),
        ]
        last = name + ".add"
    layers += [layer("avgpool", "global_average_pool", [last]), linear("fc", "avgpool", width, classes)]
    return graph([2, side, side], layers, classes)


def transformer(blocks=2, tokens=6, width=8, heads=2, vocabulary=16):
    """A decoder of blocks h.0, h.1 and so on."""
    layers = [
        layer("wte", "embedding", ["input"], [weight("wte", [vocabulary, width])], width=width),
        layer("wpe", "positions", ["wte"], [weight("wpe", [tokens, width])]),
    ]
    last = "wpe"
    for i in range(blocks):
        name = "h.%d" % i
        layers += [
            norm(name + ".ln_1", last, width, "layer_norm"),
            linear(name + ".attn.c_attn", name + ".ln_1", width, 3 * width, "normal"),
            layer(name + ".attn", "attention", [name + ".attn.c_attn"], heads=heads),
            layer(name + ".add_1", "add", [last, name + ".attn"]),
            linear(name + ".mlp.c_fc", name + ".add_1", width, 4 * width),
            layer(name + ".mlp.gelu", "gelu", [name + ".mlp.c_fc"]),
            linear(name + ".mlp.c_proj", name + ".mlp.gelu", 4 * width, width),
            layer(name + ".add_2", "add", [name + ".add_1", name + ".mlp.c_proj"]),
        ]
        last = name + ".add_2"
    layers.append(linear("lm_head", last, width, vocabulary))
    return graph([tokens], layers, vocabulary, vocabulary, tokens)


def work(description, **fields):
    """A message's work with a graph."""
    whole = {"model": "test", "graph": description, "optimizer": "momentum", "seed": 1, "precision": "fp64", "accumulation_steps": 1}
    whole.update(fields)
    return whole
