"""The worker of autotune's PyTorch engine. It needs torch 1.13 or later and nothing else."""
