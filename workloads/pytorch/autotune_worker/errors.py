"""Errors of the worker's own, each with the type that a failed message carries for it."""


class WorkerError(Exception):
    """An error whose text is for the user; failed_type is the type of its failed message."""

    failed_type = ""


class Unsupported(WorkerError):
    """The engine, torch or the device cannot do what was asked, at any size."""

    failed_type = "unsupported"


class WrongBatch(WorkerError):
    """The batch that training saw was not of the size that was asked for."""

    failed_type = "wrong_batch"


class Usage(WorkerError):
    """What the user named cannot be resolved; the text says what is missing."""

    failed_type = "usage"
