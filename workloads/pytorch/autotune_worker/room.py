"""How much memory tensors can have, where no limit is set."""

import torch

# The search for the largest tensor ends at differences of one page.
_PAGE = 4096


def of(place):
    """Bytes that tensors can take now on a torch.device; 0: not known."""
    if place.type == "cuda":
        free, _ = torch.cuda.mem_get_info(place)
        return free + torch.cuda.memory_reserved(place) - torch.cuda.memory_allocated(place)
    available = _available()
    return min(_largest(available), available) if available else 0


def _available():
    """What the system can give to programs without swapping (proc(5), MemAvailable), in bytes; 0: it does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def _largest(most):
    """The bytes of the largest tensor that the allocator gives, up to most. None is written to, so that none takes memory."""
    least = 0
    while most - least > _PAGE:
        middle = (least + most) // 2
        try:
            torch.empty(middle, dtype=torch.uint8)
            least = middle
        except RuntimeError:
            most = middle
    return least
