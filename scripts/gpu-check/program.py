"""The program autotune, and the journals that it writes."""

import json
import os
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
BINARY = os.path.join(FOLDER, "autotune")


class Wrong(Exception):
    """Something is not as it must be: a sentence, and the figures that show it."""

    def __init__(self, why, **figures):
        super().__init__(why)
        self.figures = figures


def new_folder():
    """A folder's name for a run, which the run makes."""
    return os.path.join(tempfile.mkdtemp(prefix="gpu-check-"), "run")


def training(device):
    """The flags that every training command has. autotune runs in FOLDER, so that it finds models there."""
    return ["--engine", "pytorch", "--python", sys.executable, "--device", device]


def autotune(*arguments):
    """Runs the program and gives what it printed on standard output and standard error."""
    done = subprocess.run([BINARY, *arguments], cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode != 0:
        raise Wrong("autotune %s ended with code %d" % (" ".join(arguments), done.returncode), stderr=done.stderr[-4000:])
    return done.stdout, done.stderr


class Journal:
    """What a run's journal has: header, trials (the soak apart), soak and recommendation; None where there is none yet."""

    def __init__(self, folder):
        self.header = self.recommendation = self.soak = None
        self.trials = []
        try:
            with open(os.path.join(folder, "run.jsonl")) as file:
                lines = file.read().split("\n")[:-1]  # a line that is being written has no end
        except FileNotFoundError:
            lines = []
        for line in lines:
            record = json.loads(line)
            if record["record"] == "header":
                self.header = record
            elif record["record"] == "recommendation":
                self.recommendation = record
            elif record["record"] == "trial" and record["purpose"] == "soak":
                self.soak = record
            elif record["record"] == "trial":
                self.trials.append(record)

    def rows(self):
        """The trials in short."""
        return [
            {
                "precision": t["precision"],
                "micro_batch": t["micro_batch"],
                "failure": t["failure"] and "%s in %s: %s" % (t["failure"]["type"], t["failure"]["phase"], t["failure"]["text"][:300]),
                "peak_bytes": t["memory"].get("peak_bytes"),
                "skipped_steps": t.get("skipped_steps", 0),
                "seconds": round(t["wall_seconds"], 2),
            }
            for t in self.trials + ([self.soak] if self.soak else [])
        ]


def tune(device, *arguments):
    """Searches and gives the journal and what was printed on standard error."""
    folder = new_folder()
    _, stderr = autotune("tune", *training(device), "--out", folder, *arguments)
    return Journal(folder), stderr
