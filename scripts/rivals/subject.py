"""What every finder is given: the models, and their training step."""

import json

import torch
import torchvision

CLASSES = 10

# Shape of a sample by model. main.go has the same models in autotune's flags.
SHAPES = {"resnet18": (3, 64, 64), "mobilenet_v3_small": (3, 64, 64), "vit": (3, 32, 32)}


def model(name):
    torch.manual_seed(0)
    if name == "vit":
        return torchvision.models.VisionTransformer(
            image_size=32, patch_size=4, num_layers=4, num_heads=4, hidden_dim=192, mlp_dim=384, num_classes=CLASSES
        )
    return getattr(torchvision.models, name)(num_classes=CLASSES)


def optimizer(parameters):
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9)


def batch(name, size):
    return torch.randn(size, *SHAPES[name]), torch.randint(0, CLASSES, (size,))


def train(name, size, steps):
    """Some optimizer steps in a plain loop."""
    net = model(name)
    sgd = optimizer(net.parameters())
    inputs, labels = batch(name, size)
    for _ in range(steps):
        sgd.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(net(inputs), labels)
        loss.backward()
        sgd.step()
        loss.item()


def answer(**fields):
    """What main.go reads: one JSON object on the last line."""
    print(json.dumps(fields))
