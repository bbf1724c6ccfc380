"""Runs every path of autotune on a GPU once, in under five minutes, and writes what came of it as JSON.

    python3 check.py --out FILE.json
    python3 check.py --out FILE.json --only oom --only limit    these again, the others' results in the file stay
    python3 check.py --out FILE.json --device cpu               a dry run without a GPU

It needs PyTorch and the files beside it, which `pack` puts there. The file is written anew after every section. A
section's verdict is ok (true, false, or null where it was not run), why, figures and seconds; one that fails or takes
too long does not stop the next. The exit code is 1 where one failed.
"""

import argparse
import datetime
import json
import os
import signal
import sys
import time
import traceback

import sections

TOTAL_SECONDS = 290

# How much longer a dry run may take: its bounds are against hanging alone, a CPU may be slow or busy.
DRY_FACTOR = 5


def run(section, device, bound):
    """The verdict on a section, which is stopped after bound seconds."""

    def stop(number, frame):
        raise TimeoutError("it was stopped after %d s" % bound)

    begun = time.monotonic()
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(max(1, int(bound)))
    try:
        verdict = section(device)
    except sections.NotRun as reason:
        verdict = {"ok": None, "why": "not run: %s" % reason, "figures": {}}
    except sections.Wrong as wrong:
        verdict = {"ok": False, "why": str(wrong), "figures": wrong.figures}
    except Exception as error:
        verdict = {"ok": False, "why": "%s: %s" % (type(error).__name__, error), "figures": {"traceback": traceback.format_exc()}}
    finally:
        signal.alarm(0)
    verdict["seconds"] = round(time.monotonic() - begun, 2)
    return verdict


def write(path, report):
    """The file appears whole or not at all."""
    with open(path + ".part", "w") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    os.replace(path + ".part", path)


def main():
    names = [name for name, _, _ in sections.ALL]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="the file to write")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--only", action="append", choices=names, help="this section alone; can be given again")
    arguments = parser.parse_args()

    report = {"sections": {}}
    if arguments.only and os.path.exists(arguments.out):
        with open(arguments.out) as file:
            report = json.load(file)
    report["written_by"] = "scripts/gpu-check"
    report["device"] = arguments.device
    factor = DRY_FACTOR if arguments.device == "cpu" else 1
    begun = time.monotonic()
    for name, bound, section in sections.ALL:
        if arguments.only and name not in arguments.only:
            continue
        left = TOTAL_SECONDS * factor - (time.monotonic() - begun)
        verdict = run(section, arguments.device, min(bound * factor, left))
        report["sections"][name] = verdict
        report["date"] = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        write(arguments.out, report)
        print(
            "%-12s %-8s %6.1f s  %s" % (name, {True: "ok", False: "FAILED", None: "-"}[verdict["ok"]], verdict["seconds"], verdict["why"]), flush=True
        )
    sys.exit(any(verdict["ok"] is False for verdict in report["sections"].values()))


main()
