"""The program: `python autotune_worker serve --device cpu|cuda|cuda:N [--import PACKAGE]`, or `python autotune_worker probe`.

serve speaks docs/protocol.md on the descriptors 3 and 4. probe reads one JSON object, the request, from its input, and
prints one, the answer.
"""

import argparse
import json
import os
import signal
import sys

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = argparse.ArgumentParser(prog="autotune_worker", description=__doc__)
    parser.add_argument("what", choices=["serve", "probe"])
    parser.add_argument("--device", default="cpu", help="of serve: cpu, cuda or cuda:N")
    parser.add_argument("--import", dest="package", help="of serve: the package of the model, imported before the first trial")
    chosen = parser.parse_args()
    _find_modules()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it goes to the whole group; the harness ends its workers
    printed = os.dup(1)
    os.dup2(2, 1)  # what a user's code prints goes to the log
    if chosen.what == "serve":
        return _serve(chosen.device, chosen.package)
    return _probe(printed)


def _find_modules():
    """This package, and the user's modules as Python finds them beside a script; not this package's own files by themselves."""
    sys.path[:] = [os.path.dirname(_PACKAGE), os.getcwd()] + [entry for entry in sys.path if entry and os.path.abspath(entry) != _PACKAGE]


def _serve(name, package):
    from autotune_worker.wire import Wire

    out = Wire()
    failure = worker = None
    try:
        from autotune_worker import serve

        worker = serve.Worker(name, out, package)
    except BaseException as error:  # a broken installation of torch may raise anything
        failure = {"type": type(error).__name__, "phase": "start", "text": "%s: %s" % (type(error).__name__, error)}
    if failure:
        out.say("failed", **failure)
        return 1
    return 0 if worker.run() else 1


def _probe(printed):
    from autotune_worker import probe

    answer = probe.answer(json.loads(sys.stdin.read()))
    with os.fdopen(printed, "w") as file:
        file.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # at once: a thread still reads, and a device that failed may never be done
