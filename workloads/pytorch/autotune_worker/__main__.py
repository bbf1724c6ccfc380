"""The program: `python autotune_worker serve --device cpu|cuda|cuda:N [--import PACKAGE]`, or `python autotune_worker probe [--remove FOLDER]`.

serve speaks docs/protocol.md on the descriptors 3 and 4. probe reads one line of its input, a JSON object, the request, and
prints one or more, each on a line: the answer, as far as it is known by then. It ends when its input does.
"""

import argparse
import json
import os
import shutil
import signal
import sys
import threading

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(prog="autotune_worker", description=__doc__)
    parser.add_argument("what", choices=["serve", "probe"])
    parser.add_argument("--device", default="cpu", help="of serve: cpu, cuda or cuda:N")
    parser.add_argument("--import", dest="package", help="of serve: the package of the model, imported before the first trial")
    parser.add_argument("--remove", help="of probe: its own folder, which is removed when whoever asked is gone")
    chosen = parser.parse_args()
    del sys.argv[1:]  # a user's code that reads its arguments finds none
    _find_package()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it goes to the whole group; the harness ends its workers
    printed = os.dup(1)
    os.dup2(2, 1)  # what a user's code prints goes to the log
    if chosen.what == "serve":
        return _serve(chosen.device, chosen.package)
    return _probe(printed, chosen.remove)


def _find_package():
    """Where Python finds this package; not this package's own files by themselves."""
    sys.path[:] = [os.path.dirname(_PACKAGE)] + [entry for entry in sys.path if entry and os.path.abspath(entry) != _PACKAGE]


def _find_users_modules():
    """The user's modules come first, as Python finds them beside a script. What the worker and torch need is imported
    before: a file of the user's that is named like a module of Python's library does not get in its way."""
    import torch

    from autotune_worker import adapter, graph, library, predict  # noqa: F401 - with what they import

    torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)  # from torch 2 on, the first optimizer imports much
    sys.path.insert(1, os.getcwd())


def _serve(name, package):
    from autotune_worker.wire import Wire

    out = Wire()
    failure = worker = None
    try:
        from autotune_worker import serve

        _find_users_modules()
        worker = serve.Worker(name, out, package)
    except BaseException as error:  # a broken installation of torch may raise anything
        failure = {"type": type(error).__name__, "phase": "start", "text": "%s: %s" % (type(error).__name__, error)}
    if failure:
        out.say("failed", **failure)
        return 1
    return 0 if worker.run() else 1


def _probe(printed, folder):
    request = json.loads(_question(folder))
    from autotune_worker import probe

    with os.fdopen(printed, "w") as file:
        for answer in probe.answers(request, _find_users_modules):
            file.write(json.dumps(answer) + "\n")
            file.flush()
    return 0


def _question(folder):
    """The first line of the input. When the input ends after it, so does this process with all that it started: whoever
    asked is gone. What a user's code reads is empty."""
    asked = os.fdopen(os.dup(0), "rb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    line = asked.readline()
    if not line:
        _leave(folder)
    threading.Thread(target=_watch, args=(asked, folder), daemon=True).start()
    return line


def _watch(asked, folder):
    while asked.read(1):
        pass
    _leave(folder)


def _leave(folder):
    if folder:
        shutil.rmtree(folder, ignore_errors=True)
    if hasattr(os, "getpgrp") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # at once: a thread still reads, and a device that failed may never be done
