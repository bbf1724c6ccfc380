"""Errors of the worker's own, each with the type that a failed message carries for it."""


class WorkerError(Exception):
    """An error whose text is for the user; failed_type is the type of its failed message."""

    failed_type = ""

    def fields(self):
        """Further fields of the failed message."""
        return {}


class Unsupported(WorkerError):
    """The engine, torch or the device cannot do what was asked, at any size."""

    failed_type = "unsupported"


class WrongBatch(WorkerError):
    """The batch that training saw was not of the size that was asked for."""

    failed_type = "wrong_batch"

    def __init__(self, text, came=0):
        """came is how many samples there are for a batch; 0: not known."""
        super().__init__(text)
        self._came = came

    def fields(self):
        return {"samples": self._came} if self._came else {}


class Usage(WorkerError):
    """What the user named cannot be resolved; the text says what is missing."""

    failed_type = "usage"


class Missing(Usage):
    """A package that the user named is not there. Its field missing names it where Python could have it installed."""

    def __init__(self, text, package=""):
        super().__init__(text)
        self._package = package

    def fields(self):
        """Further fields of the failed message."""
        return {"missing": self._package} if self._package else {}
