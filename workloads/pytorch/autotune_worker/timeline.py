"""Memory over time, of every size at once.

Training allocates and frees the same storages in the same order whatever the micro-batch is, and the bytes of each are
a straight line over it. So the logs of a ledger at two sizes give those lines. What is alive at a moment is a line too,
and the peak of a size is that of the highest line there.
"""

PARAMETERS = "parameters"
GRADIENTS = "gradients"
OPTIMIZER_STATE = "optimizer_state"
ACTIVATIONS = "activations"
TEMPORARY = "temporary"


class Different(Exception):
    """Two logs do not have the same sequence of events, so that no size can be derived from them."""


class Log:
    """What a ledger saw of training with one size.

    size is the micro-batch. events are the ledger's: (kind, serial number of the storage, bytes, phase). became maps
    serial numbers to PARAMETERS, GRADIENTS or OPTIMIZER_STATE. keeping names the phases whose storages are activations where they
    outlive the phase. Each block of memory is rounded up to a multiple of block bytes, as an allocator does.
    """

    def __init__(self, size, events, became, keeping, block=1):
        self.size = size
        self.events = [(kind, serial, -(-bytes_ // block) * block, phase) for kind, serial, bytes_, phase in events]
        self.became = became
        self.keeping = keeping

    def sequence(self):
        """All but the bytes."""
        return [(kind, serial, phase) for kind, serial, _, phase in self.events]

    def changes(self):
        """By how many bytes each event changes what is alive."""
        held = {}
        for kind, serial, bytes_, _ in self.events:
            after = 0 if kind == "free" else bytes_
            yield after - held.get(serial, 0)
            held[serial] = after

    def peak(self):
        """The highest bytes that were alive."""
        live = peak = 0
        for change in self.changes():
            live += change
            peak = max(peak, live)
        return peak

    def kinds(self):
        """What each event's storage is."""
        turns = _turns(self.events)
        first, last = {}, {}
        for turn, (kind, serial, _, phase) in zip(turns, self.events):
            first.setdefault(serial, (turn, phase))
            last[serial] = (kind, turn)

        def kind_of(serial):
            turn, phase = first[serial]
            ended = last[serial] == ("free", turn)
            return ACTIVATIONS if phase in self.keeping and not ended else TEMPORARY

        return [self.became.get(serial) or kind_of(serial) for _, serial, _, _ in self.events]


def _turns(events):
    """Numbers the phases of events: each time that the phase changes, the next number."""
    turn, before = 0, None
    for _, _, _, phase in events:
        turn += phase != before
        before = phase
        yield turn


class Timeline:
    """What changes in memory at each moment of training, as a line over the micro-batch: fixed bytes, and bytes per sample."""

    def __init__(self, kinds, changes):
        """kinds are those of the storages that change, changes their lines."""
        self._kinds = kinds
        self._changes = changes

    @classmethod
    def between(cls, small, large):
        """The timeline of every size, from the logs of two. Raises Different where their events differ in more than bytes."""
        if small.sequence() != large.sequence():
            raise Different("training does not do the same with %d and %d samples" % (small.size, large.size))
        return cls(large.kinds(), [line((small.size, a), (large.size, b)) for a, b in zip(small.changes(), large.changes())])

    @classmethod
    def at(cls, log):
        """The timeline of the log's own size."""
        return cls(log.kinds(), [(change, 0.0) for change in log.changes()])

    def lines(self):
        """The lines that are the highest at some size from 1 on, by rising bytes per sample: they give the peak of every size."""
        return envelope(self._moments())

    def split(self, size):
        """The bytes at the peak of a size by what holds them."""
        moments = list(self._moments())
        at = max(range(len(moments)), key=lambda i: _value(moments[i], size))
        parts = dict.fromkeys((PARAMETERS, GRADIENTS, OPTIMIZER_STATE, ACTIVATIONS, TEMPORARY), 0.0)
        for kind, change in zip(self._kinds[: at + 1], self._changes):
            parts[kind] += _value(change, size)
        return {kind: round(bytes_) for kind, bytes_ in parts.items()}

    def _moments(self):
        fixed = per_sample = 0.0
        for f, p in self._changes:
            fixed, per_sample = fixed + f, per_sample + p
            yield fixed, per_sample


def line(a, b):
    """The straight line (fixed, per sample) through two points (size, bytes)."""
    per_sample = (b[1] - a[1]) / float(b[0] - a[0])
    return a[1] - per_sample * a[0], per_sample


def _value(line_, size):
    return line_[0] + line_[1] * size


def envelope(lines):
    """Those of some lines that are the highest at a size from 1 on, by rising slope."""
    highest = {}
    for fixed, per_sample in lines:
        highest[per_sample] = max(fixed, highest.get(per_sample, fixed))
    kept = []
    for per_sample in sorted(highest):
        new = (highest[per_sample], per_sample)
        # The last line is the highest from where it crosses the one before; it goes where the new one is above it there.
        while kept and _crossing(kept[-1], new) <= (_crossing(kept[-2], kept[-1]) if len(kept) > 1 else 1):
            kept.pop()
        kept.append(new)
    return kept


def _crossing(flat, steep):
    """The size from which on the steeper line is the higher one."""
    return (flat[0] - steep[0]) / (steep[1] - flat[1])
