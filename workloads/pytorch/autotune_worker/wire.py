"""The two pipes to the harness (docs/protocol.md): requests come in on descriptor 3, answers go out on descriptor 4."""

import json
import math
import os
import queue
import sys
import threading
import time

VERSION = 1

# The longest line in bytes, the newline included.
LONGEST = 1 << 20

# Timed steps that are shorter than this are held back, for so long at most: to wake the harness for each would cost more
# than all else that the worker does between two steps. Both in seconds.
_SHORT = 0.05
_HELD = 0.1

# The exit code where the harness broke the protocol.
_BROKEN = 2


class Wire:
    """Both directions. A thread reads, and ends the process when the pipe ends, in the middle of a step too."""

    def __init__(self, requests=3, answers=4):
        self._answers = answers
        self._held = []  # messages, as (op, fields): to write them as text takes time too
        self._since = 0.0  # when the first of them was held back
        self._timed = 0  # timed steps of this trial
        self._inbox = queue.Queue()
        os.set_inheritable(requests, False)
        os.set_inheritable(answers, False)
        threading.Thread(target=self._listen, args=(requests,), daemon=True).start()

    def receive(self):
        """The next message, a dict; waits for it."""
        return self._inbox.get()

    def say(self, op, **fields):
        """Sends a message, behind the steps that were held back."""
        self._held.append((op, fields))
        self._flush()
        self._timed = 0

    def step(self, step, warmup, held=None):
        """Sends a step (steps.Step) with the bytes held after it (None: not looked at), or holds it back for a moment."""
        fields = {"warmup": warmup, "seconds": step.seconds, "loss": step.loss if math.isfinite(step.loss) else None, "samples": step.samples}
        if step.device_seconds is not None:
            fields["device_seconds"] = step.device_seconds
        if held:
            fields["held_bytes"] = held
        now = time.perf_counter()
        if not self._held:
            self._since = now
        self._held.append(("step", fields))
        self._timed += not warmup
        if self._timed < 2 or step.seconds >= _SHORT or now - self._since >= _HELD - _SHORT:
            self._flush()

    def _flush(self):
        data = b"".join(_line(op, fields) for op, fields in self._held)
        self._held = []
        while data:
            data = data[os.write(self._answers, data) :]

    def _listen(self, requests):
        try:
            with os.fdopen(requests, "rb") as file:
                for line in iter(lambda: file.readline(LONGEST + 1), b""):
                    self._inbox.put(_read(line))
        except BaseException as error:
            sys.stderr.write("autotune_worker: the harness broke the protocol: %s\n" % error)
            sys.stderr.flush()
            os._exit(_BROKEN)
        os._exit(0)  # the harness has ended


def _read(line):
    if len(line) > LONGEST or not line.endswith(b"\n"):
        raise ValueError("a line of more than %d bytes, or one without an end: %r..." % (LONGEST, line[:80]))
    message = json.loads(line.decode("utf-8"))
    if not isinstance(message, dict) or message.get("v") != VERSION or message.get("op") not in ("trial", "predict", "exit"):
        raise ValueError("no message of version %d that a worker knows: %r" % (VERSION, line[:200]))
    return message


def _line(op, fields):
    message = {"v": VERSION, "op": op}
    message.update(fields)
    return json.dumps(message, allow_nan=False).encode("utf-8") + b"\n"
