"""The built-in graph as torch modules."""

import math
import unittest

import torch
from torch.nn import functional

import graphs
from autotune_worker import graph, optimizers, storage, stream, task
from autotune_worker.errors import Unsupported

torch.set_num_threads(1)  # other tests run beside

CPU = torch.device("cpu")


def build(description, micro_batch=4, precision="fp64", **fields):
    return task.build(graphs.work(description, **fields), micro_batch, CPU, precision)


class GraphTest(unittest.TestCase):
    def test_weights_come_from_the_streams(self):
        description = graphs.residual()
        for precision, dtype in (("fp64", torch.float64), ("fp32", torch.float32)):
            model = build(description, precision=precision, seed=2**63 + 5).model
            for layer, param, tensor in graph.parameters(model, description):
                self.assertIs(tensor.dtype, dtype)
                self.assertEqual(list(graph.as_described(layer, tensor).shape), param["shape"], param["name"])
                want = torch.full(param["shape"], param["scale"], dtype=dtype)
                if param["init"] != "constant":
                    draw = stream.normal if param["init"] == "normal" else stream.uniform
                    stream.fill(want, 2**63 + 5, param["name"], draw, param["scale"])
                self.assertTrue(torch.equal(graph.as_described(layer, tensor), want), param["name"])
        self.assertEqual(sum(p.numel() for p in model.parameters()), sum(math.prod(p["shape"]) for _, p, _ in graph.parameters(model, description)))

    def test_blocks_are_modules(self):
        modules = dict(build(graphs.residual()).model.named_modules())
        self.assertIsInstance(modules["layer1"], torch.nn.ModuleList)
        self.assertIsInstance(modules["layer1.1.bn1"], torch.nn.BatchNorm2d)
        modules = dict(build(graphs.transformer()).model.named_modules())
        self.assertIsInstance(modules["h.1.attn_c_attn"], torch.nn.Linear)

    def test_a_run_that_gives_two_outputs_is_no_block(self):
        description = graphs.residual(blocks=1)
        description["layers"][-2]["inputs"] = ["layer1.0.relu1"]  # beside the block's last layer
        description["layers"].insert(-2, graphs.layer("late", "relu", ["layer1.0.add"]))
        model = build(description).model
        self.assertFalse(hasattr(model, "layer1"))
        self.assertEqual(model(torch.zeros(1, 2, 6, 6, dtype=torch.float64)).shape, (1, 3))

    def test_residual_forward(self):
        built = build(graphs.residual())
        w, x = {p["name"]: t for _, p, t in graph.parameters(built.model, graphs.residual())}, torch.randn(4, 2, 6, 6, dtype=torch.float64)
        y = functional.conv2d(x, w["conv1.weight"], padding=1)
        for block in ("layer1.0", "layer1.1"):
            z = functional.conv2d(y, w[block + ".conv1.weight"], padding=1)
            mean, variance = z.mean((0, 2, 3), keepdim=True), z.var((0, 2, 3), unbiased=False, keepdim=True)
            y = y + functional.relu((z - mean) / (variance + 1e-5).sqrt())
        want = y.mean((2, 3)) @ w["fc.weight"].t()
        self.assertTrue(torch.allclose(built.model(x), want, rtol=1e-12, atol=1e-12))
        running = built.model.layer("layer1.1.bn1").running_var
        self.assertTrue(torch.allclose(running, 0.9 + 0.1 * z.var((0, 2, 3), unbiased=True), rtol=1e-12, atol=1e-12))

    def test_transformer_forward(self):
        built = build(graphs.transformer(blocks=1))
        w, x = {p["name"]: t for _, p, t in graph.parameters(built.model, graphs.transformer(blocks=1))}, torch.randint(16, (3, 6))
        y = w["wte.weight"][x] + w["wpe.weight"]
        z = functional.layer_norm(y, (8,)) @ w["h.0.attn.c_attn.weight"].t()
        heads = []
        for h in range(2):
            query, key, value = (z[..., part * 8 + h * 4 : part * 8 + h * 4 + 4] for part in range(3))
            scores = query @ key.transpose(1, 2) / math.sqrt(4)
            scores = scores + torch.full((6, 6), -math.inf, dtype=torch.float64).triu(1)
            heads.append(scores.softmax(-1) @ value)
        y = y + torch.cat(heads, -1)
        z = y @ w["h.0.mlp.c_fc.weight"].t()
        z = z / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))
        y = y + z @ w["h.0.mlp.c_proj.weight"].t()
        want = y @ w["lm_head.weight"].t()
        self.assertTrue(torch.allclose(built.model(x), want, rtol=1e-12, atol=1e-12))

    def test_attention_in_parts_is_that_of_torch(self):
        query, key, value = torch.randn(3, 2, 2, 5, 4, dtype=torch.float64)
        parts = graph._causal_attention_in_parts(query, key, value)
        self.assertTrue(torch.allclose(graph.causal_attention(query, key, value), parts, rtol=1e-12, atol=1e-12))

    def test_batches_have_the_micro_batch(self):
        for description in (graphs.residual(), graphs.transformer()):
            built = build(description, micro_batch=5)
            batch = next(built.batches)
            self.assertEqual(built.samples(batch), 5)
            loss = built.loss(built.model, batch)
            loss.backward()
            self.assertEqual(loss.shape, ())
            self.assertTrue(all(p.grad is not None for p in built.model.parameters()))

    def test_outputs_are_let_go_of(self):
        layers = [graphs.layer("relu%d" % i, "relu", ["relu%d" % (i - 1) if i else "input"]) for i in range(6)]
        model = graph.Graph(graphs.graph([1, 8, 8], layers, 8), torch.float32)
        with storage.Ledger() as ledger, torch.no_grad():
            model(torch.zeros(1, 1, 8, 8))
        self.assertEqual(ledger.peak, 3 * 4 * 64)  # the input, an output and the one after it

    def test_the_data_set_is_not_counted_and_a_pass_is(self):
        with storage.Ledger() as ledger:
            built = build(graphs.residual(), precision="fp32")
            parameters = 4 * sum(t.numel() for t in built.model.state_dict().values())
            self.assertLess(ledger.live - parameters, 100)  # counters of batches in normalisation are of 8 bytes
            before = ledger.live
            batch = next(built.batches)
            self.assertEqual(ledger.live - before, 4 * 4 * 72 + 8 * 4)
            del batch

    def test_unknown_operation(self):
        description = graphs.graph([4], [graphs.layer("x", "fft", ["input"])], 4)
        with self.assertRaisesRegex(Unsupported, "layer 'x'.*'fft'"):
            build(description)


class OptimizerTest(unittest.TestCase):
    """Each optimizer against the updates of docs/models.md, three steps of one weight with decay and one without."""

    def updates(self, name, rate, decay, w, gradients):
        v = m = 0.0
        for step, g in enumerate(gradients, 1):
            if name in ("sgd", "momentum"):
                d = g + decay * w
                v = (0.9 * v if name == "momentum" else 0.0) + d
                w -= rate * v
                continue
            d = g + (decay * w if name == "adam" else 0.0)
            if name == "adamw":
                w -= rate * decay * w
            m, v = 0.9 * m + 0.1 * d, 0.999 * v + 0.001 * d * d
            w -= rate * (m / (1 - 0.9**step)) / (math.sqrt(v / (1 - 0.999**step)) + 1e-8)
        return w

    def test_updates(self):
        recipe = {"global_batch": 8, "learning_rate": 0.05, "weight_decay": 0.2}
        gradients = [0.5, -1.5, 0.25]
        for name in ("sgd", "momentum", "adam", "adamw"):
            for samples, part in ((2, 0.25), (8, 1.0), (100, 1.0)):
                params = [torch.nn.Parameter(torch.tensor([0.7], dtype=torch.float64)) for _ in range(2)]
                optimizer = optimizers.for_graph(name, params[:1], params[1:], recipe, samples)
                for g in gradients:
                    for p in params:
                        p.grad = torch.tensor([g], dtype=torch.float64)
                    optimizer.step()
                rate = (1e-3 if name.startswith("adam") else 0.05) * part
                for p, decay in zip(params, (0.2, 0.0)):
                    self.assertAlmostEqual(p.item(), self.updates(name, rate, decay, 0.7, gradients), 12, (name, samples))

    def test_usual_rates(self):
        model = torch.nn.Linear(2, 2)
        model.bias.requires_grad = False
        for name, rate in (("sgd", 0.01), ("momentum", 0.01), ("adam", 1e-3), ("adamw", 1e-3)):
            groups = optimizers.usual(name, model).param_groups
            self.assertEqual([(g["lr"], g["weight_decay"], len(g["params"])) for g in groups], [(rate, 0, 1)])

    def test_unknown(self):
        with self.assertRaisesRegex(Unsupported, "lion.*sgd, momentum"):
            build(graphs.residual(), optimizer="lion")
        with self.assertRaisesRegex(Unsupported, "lion.*sgd, momentum"):
            optimizers.usual("lion", torch.nn.Linear(2, 2))


if __name__ == "__main__":
    unittest.main()
