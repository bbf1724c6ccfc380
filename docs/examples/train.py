"""A training of one's own for autotune: autotune --model train.py:build

build gives autotune what a step needs. The loop at the end is the program's own; autotune does not run it.
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def data(samples=4096):
    """Stands for the real data set: images of 3x32x32 in bytes, and their classes."""
    return TensorDataset(torch.randint(256, (samples, 3, 32, 32), dtype=torch.uint8), torch.randint(10, (samples,)))


def network():
    return nn.Sequential(
        nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        nn.Sequential(nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        nn.Flatten(),
        nn.Linear(64 * 8 * 8, 10),
    )


def loss(model, batch):
    """The mean loss over the batch. Under bf16 and fp16 autotune calls it within autocast."""
    images, classes = batch
    images = images.to(next(model.parameters()).dtype) / 255
    return nn.functional.cross_entropy(model(images), classes)


def build(micro_batch, precision):
    """Called by autotune for each trial. Batches must have micro_batch samples; autotune moves them to the device."""
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    batches = DataLoader(data(), batch_size=micro_batch, shuffle=True, drop_last=True)
    return model, optimizer, batches, loss


if __name__ == "__main__":
    model, optimizer, batches, loss = build(micro_batch=64, precision="fp32")
    for batch in batches:
        optimizer.zero_grad()
        loss(model, batch).backward()
        optimizer.step()
