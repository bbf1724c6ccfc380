"""A user's own training: --model own.py:sgd or own.py:adam."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WORDS, LENGTH, WIDTH = 50, 12, 16


def sgd(micro_batch, precision):
    return _training(micro_batch, lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9))


def adam(micro_batch, precision):
    return _training(micro_batch, torch.optim.Adam)


def _training(micro_batch, optimizer):
    model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *[Block() for _ in range(3)], nn.Linear(WIDTH, WORDS))
    data = TensorDataset(torch.randint(WORDS, (40, LENGTH)), torch.randint(WORDS, (40, LENGTH)))
    return model, optimizer(model.parameters()), DataLoader(data, batch_size=micro_batch, shuffle=True), _loss


def _loss(model, batch):
    words, following = batch
    return nn.functional.cross_entropy(model(words).flatten(0, 1), following.flatten())


class Block(nn.Module):
    """Two layers beside a path around them."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x):
        return x + self.layers(x)
