# fp64
import torch

model.double()  # before the optimizer is made
accumulation_steps = 4  # x batch_size 32 = global batch 128
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

optimizer.zero_grad(set_to_none=True)
for i, (inputs, targets) in enumerate(loader, start=1):
    loss = loss_fn(model(inputs.double()), targets) / accumulation_steps
    loss.backward()
    if i % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

# fp32
import torch

torch.backends.cuda.matmul.allow_tf32 = False  # fp32 in full; no effect on a CPU
torch.backends.cudnn.allow_tf32 = False
accumulation_steps = 4  # x batch_size 32 = global batch 128
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

optimizer.zero_grad(set_to_none=True)
for i, (inputs, targets) in enumerate(loader, start=1):
    loss = loss_fn(model(inputs), targets) / accumulation_steps
    loss.backward()
    if i % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

# tf32
import torch

torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
accumulation_steps = 4  # x batch_size 32 = global batch 128
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

optimizer.zero_grad(set_to_none=True)
for i, (inputs, targets) in enumerate(loader, start=1):
    loss = loss_fn(model(inputs), targets) / accumulation_steps
    loss.backward()
    if i % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

# bf16
import torch

accumulation_steps = 4  # x batch_size 32 = global batch 128
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

optimizer.zero_grad(set_to_none=True)
for i, (inputs, targets) in enumerate(loader, start=1):
    with torch.autocast(device_type=inputs.device.type, dtype=torch.bfloat16):
        loss = loss_fn(model(inputs), targets) / accumulation_steps
    loss.backward()
    if i % accumulation_steps == 0:
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

# fp16
import torch

scaler = torch.amp.GradScaler()
accumulation_steps = 4  # x batch_size 32 = global batch 128
loader = torch.utils.data.DataLoader(dataset, batch_size=32, shuffle=True, drop_last=True)

optimizer.zero_grad(set_to_none=True)
for i, (inputs, targets) in enumerate(loader, start=1):
    with torch.autocast(device_type=inputs.device.type, dtype=torch.float16):
        loss = loss_fn(model(inputs), targets) / accumulation_steps
    scaler.scale(loss).backward()
    if i % accumulation_steps == 0:
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)

