# fp64
import torch

device = next(model.parameters()).device
model.double()  # before the optimizer is made
accumulation_steps = 4  # x batch_size 32 = global batch 128
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

# For each epoch. Passes at its end that fill no whole step are dropped, as drop_last drops samples.
optimizer.zero_grad(set_to_none=True)
for i, (inputs, targets) in enumerate(loader, start=1):
    inputs, targets = inputs.to(device), targets.to(device)
    inputs = inputs.double() if inputs.is_floating_point() else inputs
    loss = loss_fn(model(inputs), targets) / accumulation_steps  # loss_fn: the mean over the batch
    loss.backward()
    if i % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

# fp32
import torch

device = next(model.parameters()).device
torch.backends.cuda.matmul.allow_tf32 = False  # fp32 in full; no effect on a CPU
torch.backends.cudnn.allow_tf32 = False
accumulation_steps = 4  # x batch_size 32 = global batch 128
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

# For each epoch. Passes at its end that fill no whole step are dropped, as drop_last drops samples.
optimizer.zero_grad(set_to_none=True)
for i, (inputs, targets) in enumerate(loader, start=1):
    inputs, targets = inputs.to(device), targets.to(device)
    loss = loss_fn(model(inputs), targets) / accumulation_steps  # loss_fn: the mean over the batch
    loss.backward()
    if i % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

# tf32
import torch

device = next(model.parameters()).device
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
accumulation_steps = 4  # x batch_size 32 = global batch 128
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

# For each epoch. Passes at its end that fill no whole step are dropped, as drop_last drops samples.
optimizer.zero_grad(set_to_none=True)
for i, (inputs, targets) in enumerate(loader, start=1):
    inputs, targets = inputs.to(device), targets.to(device)
    loss = loss_fn(model(inputs), targets) / accumulation_steps  # loss_fn: the mean over the batch
    loss.backward()
    if i % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

# bf16
import torch

device = next(model.parameters()).device
accumulation_steps = 4  # x batch_size 32 = global batch 128
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

# For each epoch. Passes at its end that fill no whole step are dropped, as drop_last drops samples.
optimizer.zero_grad(set_to_none=True)
for i, (inputs, targets) in enumerate(loader, start=1):
    inputs, targets = inputs.to(device), targets.to(device)
    with torch.autocast(device_type=device.type, dtype=torch.bfloat16):
        loss = loss_fn(model(inputs), targets) / accumulation_steps  # loss_fn: the mean over the batch
    loss.backward()
    if i % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

# fp16
import torch

device = next(model.parameters()).device
scaler = torch.amp.GradScaler(device.type)
accumulation_steps = 4  # x batch_size 32 = global batch 128
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

# For each epoch. Passes at its end that fill no whole step are dropped, as drop_last drops samples.
optimizer.zero_grad(set_to_none=True)
for i, (inputs, targets) in enumerate(loader, start=1):
    inputs, targets = inputs.to(device), targets.to(device)
    with torch.autocast(device_type=device.type, dtype=torch.float16):
        loss = loss_fn(model(inputs), targets) / accumulation_steps  # loss_fn: the mean over the batch
    scaler.scale(loss).backward()
    if i % accumulation_steps == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

