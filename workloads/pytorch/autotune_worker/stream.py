"""SplitMix64 streams in torch's 64-bit integers: the numbers that every engine makes alike (docs/models.md).

torch has no unsigned 64-bit arithmetic. Sums and products of signed integers wrap around to the same bits, and a
shift to the right is made logical by clearing the upper bits.
"""

import math

import torch

_GOLDEN = 0x9E3779B97F4A7C15  # 2^64 over the golden ratio, odd
_MIX = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_NORMAL_SCALE = 1 / math.sqrt((2**32 - 1) / 3.0)

# Values are made in parts of this many, so that what is made on the way stays in the cache.
_PART = 1 << 17


def state(seed, name):
    """The state at which the stream of a name begins, as a signed 64-bit integer: mix(seed XOR fnv1a64(name))."""
    z = 0xCBF29CE484222325
    for byte in name.encode():
        z = ((z ^ byte) * 0x100000001B3) & _MASK
    z ^= seed & _MASK
    z = ((z ^ (z >> 30)) * _MIX[0]) & _MASK
    z = ((z ^ (z >> 27)) * _MIX[1]) & _MASK
    return _signed(z ^ (z >> 31))


def words(state, places):
    """The words of a stream at places, a tensor of integers from 0: mix(state + (place + 1) * golden).

    state is an integer or a tensor of them that broadcasts over the places: many streams at once.
    """
    z = (places + 1).mul_(_signed(_GOLDEN)) + state
    z.bitwise_xor_(_shift(z, 30)).mul_(_signed(_MIX[0]))
    z.bitwise_xor_(_shift(z, 27)).mul_(_signed(_MIX[1]))
    return z.bitwise_xor_(_shift(z, 31))


def uniform(word):
    """In [-1, 1), as float64: the word's upper 53 bits, times 2^-52, minus 1."""
    return _shift(word, 11).to(torch.float64).mul_(2.0**-52).sub_(1)


def normal(word):
    """Near to a standard normal value, as float64: the sum of the word's four parts of 16 bits, minus 131070, scaled to variance 1."""
    total = _shift(word, 48)
    for bits in (0, 16, 32):
        total += (word >> bits).bitwise_and_(torch.tensor(0xFFFF))
    return total.to(torch.float64).sub_(131070).mul_(_NORMAL_SCALE)


def below(word, n):
    """A whole number from 0 to n-1: the word's upper 32 bits, times n, divided by 2^32. n is 1 to 2^31."""
    return _shift(_shift(word, 32).mul_(n), 32)


def fill(tensor, seed, name, draw, scale):
    """Fills a contiguous tensor, in row-major order, with values of the stream of a name: draw (uniform or normal) times scale."""
    flat, begin = tensor.view(-1), state(seed, name)
    for at in range(0, flat.numel(), _PART):
        part = flat[at : at + _PART]
        part.copy_(draw(words(begin, torch.arange(at, at + part.numel()))).mul_(scale))


_MASK = 2**64 - 1


def _signed(z):
    return z - 2**64 if z >= 2**63 else z


def _shift(z, bits):
    """A logical shift to the right. The mask is a tensor, since torch 1.13 takes no number there while operations are watched."""
    return (z >> bits).bitwise_and_(torch.tensor((1 << (64 - bits)) - 1))
