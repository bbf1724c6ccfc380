"""The worker of autotune that trains with PyTorch (docs/protocol.md)."""
