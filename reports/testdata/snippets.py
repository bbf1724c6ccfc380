# fp64
import itertools

import torch

device = next(model.parameters()).device
model.double()  # before the optimizer is made
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)
accumulation_steps = 3  # x batch_size 4 = global batch 12


def steps(loader):
    """The batches of each optimizer step. The last step of an epoch may have fewer, and its last batch fewer samples."""
    batches = iter(loader)
    while step := list(itertools.islice(batches, accumulation_steps)):
        yield step


for step in steps(loader):  # an epoch
    samples = sum(len(targets) for _, targets in step)  # for a mean over tokens: those that count
    optimizer.zero_grad(set_to_none=True)
    for inputs, targets in step:
        inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
        inputs = inputs.double() if inputs.is_floating_point() else inputs
        loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch
        loss = loss * (len(targets) / samples)
        loss.backward()
    optimizer.step()

# fp32
import itertools

import torch

device = next(model.parameters()).device
torch.backends.cuda.matmul.allow_tf32 = False  # fp32 in full; no effect on a CPU
torch.backends.cudnn.allow_tf32 = False
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)
accumulation_steps = 3  # x batch_size 4 = global batch 12


def steps(loader):
    """The batches of each optimizer step. The last step of an epoch may have fewer, and its last batch fewer samples."""
    batches = iter(loader)
    while step := list(itertools.islice(batches, accumulation_steps)):
        yield step


for step in steps(loader):  # an epoch
    samples = sum(len(targets) for _, targets in step)  # for a mean over tokens: those that count
    optimizer.zero_grad(set_to_none=True)
    for inputs, targets in step:
        inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
        loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch
        loss = loss * (len(targets) / samples)
        loss.backward()
    optimizer.step()

# tf32
import itertools

import torch

device = next(model.parameters()).device
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)
accumulation_steps = 3  # x batch_size 4 = global batch 12


def steps(loader):
    """The batches of each optimizer step. The last step of an epoch may have fewer, and its last batch fewer samples."""
    batches = iter(loader)
    while step := list(itertools.islice(batches, accumulation_steps)):
        yield step


for step in steps(loader):  # an epoch
    samples = sum(len(targets) for _, targets in step)  # for a mean over tokens: those that count
    optimizer.zero_grad(set_to_none=True)
    for inputs, targets in step:
        inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
        loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch
        loss = loss * (len(targets) / samples)
        loss.backward()
    optimizer.step()

# bf16
import itertools

import torch

device = next(model.parameters()).device
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)
accumulation_steps = 3  # x batch_size 4 = global batch 12


def steps(loader):
    """The batches of each optimizer step. The last step of an epoch may have fewer, and its last batch fewer samples."""
    batches = iter(loader)
    while step := list(itertools.islice(batches, accumulation_steps)):
        yield step


for step in steps(loader):  # an epoch
    samples = sum(len(targets) for _, targets in step)  # for a mean over tokens: those that count
    optimizer.zero_grad(set_to_none=True)
    for inputs, targets in step:
        inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
        with torch.autocast(device_type=device.type, dtype=torch.bfloat16):
            loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch
        loss = loss * (len(targets) / samples)
        loss.backward()
    optimizer.step()

# fp16
import itertools

import torch

device = next(model.parameters()).device
scaler = torch.amp.GradScaler(device.type)  # before torch 2.3: torch.cuda.amp.GradScaler()
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)
accumulation_steps = 3  # x batch_size 4 = global batch 12


def steps(loader):
    """The batches of each optimizer step. The last step of an epoch may have fewer, and its last batch fewer samples."""
    batches = iter(loader)
    while step := list(itertools.islice(batches, accumulation_steps)):
        yield step


for step in steps(loader):  # an epoch
    samples = sum(len(targets) for _, targets in step)  # for a mean over tokens: those that count
    optimizer.zero_grad(set_to_none=True)
    for inputs, targets in step:
        inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
        with torch.autocast(device_type=device.type, dtype=torch.float16):
            loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch
        loss = loss * (len(targets) / samples)
        scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

# fp32
import torch

device = next(model.parameters()).device
torch.backends.cuda.matmul.allow_tf32 = False  # fp32 in full; no effect on a CPU
torch.backends.cudnn.allow_tf32 = False
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)

for inputs, targets in loader:  # an epoch
    optimizer.zero_grad(set_to_none=True)
    inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
    loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch
    loss.backward()
    optimizer.step()

# fp16 [checkpointing=on]
import functools

import torch
from torch.utils.checkpoint import checkpoint

device = next(model.parameters()).device
scaler = torch.amp.GradScaler(device.type)  # before torch 2.3: torch.cuda.amp.GradScaler()

containers = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)


def is_block(module):
    return bool(list(module.children()) and list(module.parameters())) and type(module) not in containers[1:]


def is_stage(module):  # it has a container of blocks of one class
    groups = [list(child.children()) for child in module.children() if type(child) in containers]
    return any(len(set(map(type, g))) == 1 and type(g[0]) not in containers and is_block(g[0]) for g in groups)


def parts(module):
    """The outermost blocks in containers, such as the layers of a transformer; of stages theirs."""
    for child in module.children():
        inner = list(parts(child))
        holds_more = type(child) in containers and inner or is_stage(child)
        if isinstance(module, containers) and is_block(child) and not holds_more:
            yield child
        else:
            yield from inner


kinds = [type(block) for block in parts(model)]
blocks = [block for block in parts(model) if kinds.count(type(block)) > 1]
for block in blocks:  # their activations are computed again in the backward pass
    block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)

for inputs, targets in loader:  # an epoch
    optimizer.zero_grad(set_to_none=True)
    inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
    with torch.autocast(device_type=device.type, dtype=torch.float16):
        loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

# fp16 [checkpointing=0+1]
import functools

import torch
from torch.utils.checkpoint import checkpoint

device = next(model.parameters()).device
scaler = torch.amp.GradScaler(device.type)  # before torch 2.3: torch.cuda.amp.GradScaler()
named = [model.get_submodule(name) for name in ["0", "1"]]
lists = (torch.nn.ModuleList, torch.nn.ModuleDict)  # which do not run themselves
blocks = [block for module in named for block in (module.children() if type(module) in lists else [module])]
for block in blocks:  # their activations are computed again in the backward pass
    block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)

for inputs, targets in loader:  # an epoch
    optimizer.zero_grad(set_to_none=True)
    inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
    with torch.autocast(device_type=device.type, dtype=torch.float16):
        loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

# fp16 [compile=on]
import torch

device = next(model.parameters()).device
scaler = torch.amp.GradScaler(device.type)  # before torch 2.3: torch.cuda.amp.GradScaler()
model = torch.compile(model)
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)

for inputs, targets in loader:  # an epoch
    optimizer.zero_grad(set_to_none=True)
    inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
    with torch.autocast(device_type=device.type, dtype=torch.float16):
        loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

# fp16 [checkpointing=on,compile=on,expandable=on]
import functools
import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"  # before torch is imported
import torch
from torch.utils.checkpoint import checkpoint

device = next(model.parameters()).device
scaler = torch.amp.GradScaler(device.type)  # before torch 2.3: torch.cuda.amp.GradScaler()

containers = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)


def is_block(module):
    return bool(list(module.children()) and list(module.parameters())) and type(module) not in containers[1:]


def is_stage(module):  # it has a container of blocks of one class
    groups = [list(child.children()) for child in module.children() if type(child) in containers]
    return any(len(set(map(type, g))) == 1 and type(g[0]) not in containers and is_block(g[0]) for g in groups)


def parts(module):
    """The outermost blocks in containers, such as the layers of a transformer; of stages theirs."""
    for child in module.children():
        inner = list(parts(child))
        holds_more = type(child) in containers and inner or is_stage(child)
        if isinstance(module, containers) and is_block(child) and not holds_more:
            yield child
        else:
            yield from inner


kinds = [type(block) for block in parts(model)]
blocks = [block for block in parts(model) if kinds.count(type(block)) > 1]
for block in blocks:  # their activations are computed again in the backward pass
    block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)
model = torch.compile(model)
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)

for inputs, targets in loader:  # an epoch
    optimizer.zero_grad(set_to_none=True)
    inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
    with torch.autocast(device_type=device.type, dtype=torch.float16):
        loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()

# bf16 [checkpointing=bert.encoder.layer]
import functools

import torch
from torch.utils.checkpoint import checkpoint

device = next(model.parameters()).device
model.config.use_cache = False  # keys and values, which a second forward pass would keep twice
named = [model.get_submodule(name) for name in ["bert.encoder.layer"]]
lists = (torch.nn.ModuleList, torch.nn.ModuleDict)  # which do not run themselves
blocks = [block for module in named for block in (module.children() if type(module) in lists else [module])]
for block in blocks:  # their activations are computed again in the backward pass
    block.forward = functools.partial(checkpoint, block.forward, use_reentrant=False)
loader = torch.utils.data.DataLoader(dataset, batch_size=4, shuffle=True)

for inputs, targets in loader:  # an epoch
    optimizer.zero_grad(set_to_none=True)
    inputs, targets = inputs.to(device, non_blocking=True), targets.to(device, non_blocking=True)
    with torch.autocast(device_type=device.type, dtype=torch.bfloat16):
        loss = loss_fn(model(inputs), targets)  # loss_fn: the mean over the batch
    loss.backward()
    optimizer.step()

