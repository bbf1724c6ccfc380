"""Errors as text: the user's own lines stay, those of torch, of Python's library and of the worker are cut."""

import os
import sysconfig
import traceback

import torch

from autotune_worker.errors import WorkerError

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_LIBRARY = os.path.abspath(sysconfig.get_paths()["stdlib"]) + os.sep


def of(error):
    """Gives the message of the worker's own errors. Of others it gives "Type: message", and below it the user's part of the
    traceback, where it has one.

    It keeps nothing of the error: an exception holds its frames, and those hold tensors.
    """
    if isinstance(error, WorkerError):
        return str(error)
    first = "".join(traceback.format_exception_only(type(error), error)).strip()
    if isinstance(error, SyntaxError):
        return _syntax(error, first)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _users(frame.filename)]
    if not frames:
        return first
    return first + "\nTraceback (most recent call last):\n" + "".join(traceback.format_list(frames)).rstrip()


def _syntax(error, text):
    """The message of a syntax error comes last in its text, after the place; it goes to the front."""
    lines = text.split("\n")
    return "\n".join([lines[-1]] + lines[:-1])


def _users(filename):
    """Says whether a file is none of the worker's, of torch's nor of Python's own library: the user's, or a package's that has models."""
    path = os.path.abspath(filename)
    if path.startswith((_OWN, _TORCH)) or not os.path.exists(path):
        return False
    return "-packages" + os.sep in path or not path.startswith(_LIBRARY)
