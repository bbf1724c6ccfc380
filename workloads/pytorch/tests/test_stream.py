"""The streams and samples against plain Python integers, by the rules of docs/models.md."""

import math
import unittest

import torch

from autotune_worker import pool, storage, stream

torch.set_num_threads(1)  # other tests run beside

MASK = 2**64 - 1


def mix(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


class Reference:
    """A stream, word by word."""

    def __init__(self, seed, name):
        h = 0xCBF29CE484222325
        for byte in name.encode():
            h = ((h ^ byte) * 0x100000001B3) & MASK
        self.state = mix(seed ^ h)

    def next(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        return mix(self.state)

    def uniform(self):
        return (self.next() >> 11) * 2.0**-52 - 1

    def normal(self):
        w = self.next()
        total = sum((w >> bits) & 0xFFFF for bits in (0, 16, 32, 48))
        return (total - 131070) * (1 / math.sqrt((2**32 - 1) / 3))

    def below(self, n):
        return ((self.next() >> 32) * n) >> 32


SEEDS = (0, 1, 2**63 + 12345, 2**64 - 1)


class StreamTest(unittest.TestCase):
    def test_documented_values(self):
        word = stream.words(stream.state(1, "conv1.weight"), torch.arange(1))
        self.assertEqual(word.item() & MASK, 15768316593224168514)
        self.assertEqual(stream.normal(word).item(), 0.1929052558275907)

    def test_every_value_equals_the_reference(self):
        for seed in SEEDS:
            words = stream.words(stream.state(seed, "fc.weight"), torch.arange(200))
            ref = Reference(seed, "fc.weight")
            self.assertEqual([w & MASK for w in words.tolist()], [ref.next() for _ in range(200)])
            for draw, name in ((stream.uniform, "uniform"), (stream.normal, "normal")):
                ref = Reference(seed, "fc.weight")
                self.assertEqual(draw(words).tolist(), [getattr(ref, name)() for _ in range(200)], name)
            for n in (1, 8, 1000, 2**31):
                ref = Reference(seed, "fc.weight")
                self.assertEqual(stream.below(words, n).tolist(), [ref.below(n) for _ in range(200)])

    def test_fill_goes_on_from_part_to_part(self):
        whole = torch.empty(stream._PART + 7, dtype=torch.float64)
        stream.fill(whole, 3, "x", stream.uniform, 0.5)
        ref = Reference(3, "x")
        values = [ref.uniform() * 0.5 for _ in range(len(whole))]
        self.assertEqual(whole.tolist(), values)
        single = torch.empty(3, 5)
        stream.fill(single, 3, "x", stream.uniform, 0.5)
        self.assertEqual(single.flatten().tolist(), torch.tensor(values[:15]).tolist())

    def test_the_same_while_operations_are_watched(self):
        plain = stream.normal(stream.words(stream.state(1, "x"), torch.arange(50)))
        with storage.Ledger():
            watched = stream.normal(stream.words(stream.state(1, "x"), torch.arange(50)))
        self.assertTrue(torch.equal(plain, watched))


class PoolTest(unittest.TestCase):
    def test_images(self):
        graph = {"vocabulary": 0, "classes": 5, "input_shape": [2, 6, 7]}
        inputs, targets = pool.make(graph, 9, 4, torch.float64)
        for i in range(4):
            sample = Reference(9, "data.sample.%d" % i)
            label = sample.below(5)
            fields = Reference(9, "data.class.%d" % label)
            pattern = [fields.normal() for _ in range(2 * 16)]
            values = [
                (pattern[c * 16 + y * 4 // 6 * 4 + x * 4 // 7] + sample.normal()) * math.sqrt(2) / 2
                for c in range(2)
                for y in range(6)
                for x in range(7)
            ]
            self.assertEqual(targets[i].item(), label)
            self.assertEqual(inputs[i].flatten().tolist(), values)

    def test_sequences(self):
        graph = {"vocabulary": 256, "classes": 256, "input_shape": [40]}
        inputs, targets = pool.make(graph, 9, 3, torch.float32)
        for i in range(3):
            sample = Reference(9, "data.sample.%d" % i)
            row = [sample.below(256)]
            for _ in range(40):
                row.append((5 * row[-1] + 17) % 256 if sample.below(8) else sample.below(256))
            self.assertEqual(inputs[i].tolist(), row[:-1])
            self.assertEqual(targets[i].tolist(), row[1:])

    def test_groups_do_not_change_the_samples(self):
        graph = {"vocabulary": 0, "classes": 3, "input_shape": [1, 4, 4]}
        inputs, targets = pool.make(graph, 1, 20, torch.float32)
        whole, pool._GROUP = pool._GROUP, 16 * 3
        try:
            again = pool.make(graph, 1, 20, torch.float32)
        finally:
            pool._GROUP = whole
        self.assertTrue(torch.equal(inputs, again[0]) and torch.equal(targets, again[1]))

    def test_passes_begin_again_at_the_end(self):
        samples = pool.size(3)
        self.assertEqual(samples, 64)
        self.assertEqual(pool.size(40), 80)
        inputs = torch.arange(samples).view(samples, 1)
        passes = pool.passes(inputs, inputs[:, 0], 3, pinned=False)
        seen = [next(passes) for _ in range(44)]
        self.assertEqual([i.item() for batch in seen for i in batch[1]], [i % 64 for i in range(132)])
        self.assertEqual(seen[21][0].tolist(), [[63], [0], [1]])
        seen[0][0].zero_()
        self.assertEqual(inputs[:3, 0].tolist(), [0, 1, 2])  # a pass has a copy


if __name__ == "__main__":
    unittest.main()
