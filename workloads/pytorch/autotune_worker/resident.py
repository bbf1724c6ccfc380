"""The resident set of this process, as Linux counts it."""

_STATUS = "/proc/self/status"
_CLEAR = "/proc/self/clear_refs"


def now():
    """Bytes in memory now; None: the system does not say."""
    return _read("VmRSS:")


def peak():
    """The highest since the last reset_peak, in bytes; None: the system does not say."""
    return _read("VmHWM:")


def reset_peak():
    """Sets the peak to what is in memory now, and says whether that was possible (proc(5), clear_refs)."""
    try:
        with open(_CLEAR, "w") as file:
            file.write("5")
    except OSError:
        return False
    return True


def _read(name):
    try:
        with open(_STATUS) as file:
            for line in file:
                if line.startswith(name):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None
