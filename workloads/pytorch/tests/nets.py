"""Small models that are found by name, and what the predictions of a search may meet."""

import torch
from torch import nn


def convolutional(classes=4):
    """Convolutions with batch normalisation, as a residual network begins."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Sequential(*[nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()) for _ in range(3)]),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(16, classes),
    )  # fmt: skip


class Encoder(nn.Module):
    """A transformer over rows of an image."""

    def __init__(self, width=16, layers=2):
        super().__init__()
        layer = nn.TransformerEncoderLayer(width, 4, 32, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, 5)
        # It looks at values, as trunc_normal_ of a vision transformer does.
        with torch.no_grad():
            while not (self.head.weight.abs() < 3).all():
                self.head.weight.normal_()

    def forward(self, x):
        return self.head(self.blocks(x).mean(1))


class Unused(nn.Module):
    """Some parameters get no gradient, some want none, and two are one."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.tied = nn.Linear(8, 8)
        self.tied.weight = self.first.weight
        self.unused = nn.Linear(1000, 8)
        self.frozen = nn.Linear(8, 8).requires_grad_(False)

    def forward(self, x):
        return self.tied(self.frozen(self.first(x).relu()).relu())


class Looking(nn.Linear):
    """Its forward pass looks at values, so that it cannot run with fakes."""

    def __init__(self):
        super().__init__(8, 3)

    def forward(self, x):
        y = super().forward(x)
        return y * 2 if y.sum().item() > 0 else y


class Failing(nn.Linear):
    """Its forward pass fails in training."""

    def __init__(self):
        super().__init__(8, 3)

    def forward(self, x):
        if self.training:
            raise RuntimeError("in training")
        return super().forward(x)


class Mismatched(nn.Linear):
    """Its shapes do not fit in training."""

    def __init__(self):
        super().__init__(8, 3)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        y = super().forward(x)
        return self.head(y) if self.training else y


class Stepped(nn.Linear):
    """It does more from 20 samples on."""

    def __init__(self):
        super().__init__(8, 3)

    def forward(self, x):
        y = super().forward(x)
        return (y + 1).relu() if len(x) > 20 else y


class Erratic(nn.Linear):
    """What it does depends on the size, at every size."""

    def __init__(self):
        super().__init__(8, 3)

    def forward(self, x):
        y = super().forward(x)
        for _ in range(len(x) // 16):
            y = y.sin()
        return y
