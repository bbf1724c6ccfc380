"""One worker of autotune, spoken to directly (docs/protocol.md)."""

import json
import os
import subprocess
import sys


class Worker:
    def __init__(self, folder, device, log):
        """Starts the worker whose package is in the folder. What it prints goes to the log, an open file."""
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()

        def descriptors():
            os.dup2(requests, 3)
            os.dup2(answers, 4)

        command = [sys.executable, "-u", os.path.join(folder, "autotune_worker"), "serve", "--device", device]
        self._process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, preexec_fn=descriptors, pass_fds=(3, 4))
        os.close(requests)
        os.close(answers)
        self._lines = os.fdopen(self._answers)
        self.ready = self._read()

    def _read(self):
        line = self._lines.readline()
        if not line:
            raise RuntimeError("the worker ended with code %s" % self._process.wait())
        return json.loads(line)

    def trial(self, **fields):
        """Runs one trial and gives its last message, done or failed, with its step messages as "steps"."""
        message = {"v": 1, "op": "trial", "trial": 1, "optimizer": "momentum", "seed": 1, "precision": "fp32", "accumulation_steps": 1}
        message.update({"warmup_steps": 2, "steps": 1, "seconds": 0, "limit_bytes": 0})
        message.update(fields)
        os.write(self._requests, (json.dumps(message) + "\n").encode())
        steps = []
        while True:
            answer = self._read()
            if answer["op"] != "step":
                return dict(answer, steps=steps)
            steps.append(answer)

    def close(self):
        os.close(self._requests)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._lines.close()
