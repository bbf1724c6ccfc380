"""The sections of the check. Each is given the device, cuda or cpu, and gives its verdict."""

import contextlib
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time

from program import BINARY, FOLDER, Journal, Wrong, autotune, new_folder, training, tune
from worker import Worker

# What is trained where nothing else is said: on a GPU what takes it some milliseconds, in the dry run what is soon done.
RESNET18 = ["--model", "torchvision:resnet18", "--input", "3,64,64", "--classes", "10", "--optimizer", "momentum"]
TRAINED = {"cuda": RESNET18, "cpu": ["--model", "mlp"]}
BATCH = {"cuda": 1024, "cpu": 32}
LIMIT = {"cuda": 8 << 30, "cpu": 16 << 20}

EXPANDING = {"model": "expanding:model", "input_shape": [1], "classes": 10}
FEW_SIZES = ["--batch", "1..1024", "--global-batch", "any"]  # for a search that is not about memory

ROUNDS = 10  # of running out of memory and of going on


class NotRun(Exception):
    """The section cannot be run here."""


def ok(why, **figures):
    return {"ok": True, "why": why, "figures": figures}


def cuda_only(device):
    if device != "cuda":
        raise NotRun("no CUDA")


def python(code):
    """What a fresh Python prints: this process makes no context on the GPU."""
    return subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, universal_newlines=True, check=True).stdout


def environment(device):
    figures = json.loads(
        python(
            """
import json, torch
figures = {"torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}
figures["cuda_available"] = torch.cuda.is_available()
try:
    import torchvision
    figures["torchvision"] = torchvision.__version__
except ImportError:
    pass
if torch.cuda.is_available():
    p = torch.cuda.get_device_properties(0)
    figures.update(name=p.name, total_memory=p.total_memory, capability=[p.major, p.minor], devices=torch.cuda.device_count())
    figures["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
print(json.dumps(figures))
"""
        )
    )
    figures.update(python=platform.python_version(), kernel=platform.release(), cores=len(os.sched_getaffinity(0)))
    figures["clear_refs"] = os.access("/proc/self/clear_refs", os.W_OK)
    figures["cgroup"] = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    query = "name,driver_version,memory.total,memory.used,compute_cap,mig.mode.current"
    for name, command in [("nvidia_smi", ["nvidia-smi", "--query-gpu=" + query, "--format=csv"]), ("nvidia_smi_processes", ["nvidia-smi"])]:
        try:
            figures[name] = subprocess.run(command, stdout=subprocess.PIPE, universal_newlines=True).stdout
        except FileNotFoundError:
            figures[name] = None
    figures["autotune"], figures["autotune_devices"] = autotune("--version")[0], autotune("devices", "--python", sys.executable)[0]
    if device == "cuda" and not figures["cuda_available"]:
        raise Wrong("torch sees no CUDA device", **figures)
    return ok("torch %s, CUDA %s" % (figures["torch"], figures["cuda"]), **figures)


def bench(device, *arguments):
    folder = new_folder()
    results = json.loads(autotune("bench", *training(device), "--repeat", "1", "--json", "--out", folder, *arguments)[0])
    return results, Journal(folder)


def precisions(device):
    """Every precision on one worker, some steps each."""
    wanted = {"cuda": ["fp32", "tf32", "bf16", "fp16", "fp64"], "cpu": ["fp32", "fp64"]}[device]
    resnet18 = {"model": "torchvision:resnet18", "input_shape": [3, 64, 64], "classes": 10, "micro_batch": 256}
    work = {"cuda": resnet18, "cpu": dict(EXPANDING, micro_batch=4)}[device]
    ended = {}
    with worker(device, ended) as w:
        for name in wanted:
            ended[name] = w.trial(precision=name, steps=10, **work)
    bad = [name for name in wanted if ended[name]["op"] != "done"]
    if bad:
        raise Wrong("these did not run: " + ", ".join(bad), **ended)
    milliseconds = {name: 1e3 * min(s["seconds"] for s in ended[name]["steps"] if not s["warmup"]) for name in wanted}
    return ok("shortest step in ms: " + ", ".join("%s %.2f" % item for item in milliseconds.items()), **ended)


@contextlib.contextmanager
def worker(device, figures):
    """A worker to speak to. An error has the figures that there are by then, and what the worker printed."""
    with tempfile.TemporaryFile("w+") as log:
        w = Worker(FOLDER, device, log)
        figures["ready"] = w.ready
        try:
            yield w
        except Exception as error:
            log.seek(0)
            raise Wrong("%s: %s" % (type(error).__name__, error), log=log.read()[-4000:], **figures) from error
        finally:
            w.close()


def oom(device):
    """Runs out of memory again and again on one worker: of the card and below a limit, in turn. Each time a small trial follows."""
    sample = 3 * 4 * 65536  # bytes that one sample takes at the least: two layers of expanding.py and a gradient
    room = LIMIT["cpu"]
    if device == "cuda":
        room = int(python("import torch; print(torch.cuda.get_device_properties(0).total_memory)"))
    rounds = []
    figures = {"rounds": rounds}
    # On the CPU tensors are counted where there is a limit.
    small = dict(EXPANDING, micro_batch=4, limit_bytes=LIMIT["cpu"] if device == "cpu" else 0)
    with worker(device, figures) as w:
        first = figures["first"] = w.trial(**small)
        for number in range(ROUNDS):
            limit = LIMIT[device] if number % 2 or device == "cpu" else 0
            failed = w.trial(micro_batch=2 * (limit or room) // sample, limit_bytes=limit, **EXPANDING)
            rounds.append({"limit_bytes": limit, "failed": failed, "small": w.trial(**small)})
    for number, r in enumerate(rounds, 1):
        if r["failed"]["op"] != "failed" or "OutOfMemory" not in r["failed"]["type"]:
            raise Wrong("round %d did not run out of memory" % number, **figures)
        if r["small"]["op"] != "done":
            raise Wrong("round %d: the worker did not go on" % number, **figures)
        for counter, bytes_before in first["memory"]["after_bytes"].items():
            bytes_now = r["small"]["memory"]["after_bytes"].get(counter)
            # The host's pages and other processes are not the worker's to give back.
            if counter in ("allocated", "reserved", "tensors") and bytes_now > bytes_before + (1 << 20):
                raise Wrong("round %d left %d bytes %s, before it were %d" % (number, bytes_now, counter, bytes_before), **figures)
    return ok("%d times out of memory, and back at the baseline each time" % ROUNDS, **figures)


def limit(device):
    journal, stderr = tune(
        device, *TRAINED[device], "--global-batch", "any", "--objective", "batch", "--memory-limit", "%dB" % LIMIT[device], "--soak", "2s"
    )
    counter = journal.header["limit_on"]
    # On the CPU a trial that failed tells by how much it would have been above the limit.
    counted = [t for t in journal.trials + [journal.soak] if device == "cuda" or not t["failure"]]
    peaks = [t["memory"].get("peak_bytes", {}).get(counter, 0) for t in counted]
    border = journal.recommendation["largest"][0]
    figures = {"counter": counter, "highest_bytes": max(peaks), "border": border, "trials": journal.rows(), "stderr": stderr}
    if max(peaks) > LIMIT[device]:
        raise Wrong("%d bytes %s, the limit is %d" % (max(peaks), counter, LIMIT[device]), **figures)
    if border["failed_trial"] is None:
        raise Wrong("the border is bound by %s, not by memory" % border["bound"], **figures)
    return ok("%d ran, the next did not; never more than %.4f of the limit" % (border["micro_batch"], max(peaks) / LIMIT[device]), **figures)


def neighbour(device):
    """A second process holds half of the card: the first line must say so, and the default limit must follow."""
    cuda_only(device)
    code = "import torch; t = torch.cuda.mem_get_info()[1]; x = torch.empty(t // 2, dtype=torch.uint8, device='cuda'); print(t, flush=True); input()"
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True)
    try:
        total = int(other.stdout.readline())
        journal, stderr = tune(device, *TRAINED[device], *FEW_SIZES, "--max-trials", "3", "--soak", "0s")
    finally:
        other.kill()
        other.wait()
    figures = {"first_line": stderr.split("\n")[0], "busy": journal.header.get("device_busy"), "limit_bytes": journal.header["memory_limit_bytes"]}
    figures.update(limit_source=journal.header["memory_limit_source"], total_bytes=total, trials=journal.rows())
    if not figures["busy"] or figures["busy"] not in " ".join(stderr.split()):
        raise Wrong("it is not said that the device is busy", **figures)
    if figures["limit_bytes"] > total // 2:
        raise Wrong("the default limit is more than the half that is free", **figures)
    return ok("the limit is %.3f of the card, %s" % (figures["limit_bytes"] / total, figures["busy"]), **figures)


def prediction(device):
    """The predicted peak against the measured one of the same size."""
    size = str(BATCH[device])
    predicted = json.loads(autotune("predict", *training(device), *TRAINED[device], "--batch", size, "--json")[0])[0]
    results, journal = bench(device, *TRAINED[device], "--batch", size)
    figures = {"predicted": predicted, "measured": journal.trials[0]["memory"], "trials": journal.rows()}
    counter = predicted["counter"]
    if counter not in figures["measured"]["peak_bytes"]:
        raise Wrong("%s was predicted and not measured" % counter, **figures)
    difference = predicted["sizes"][0]["peak_bytes"] / figures["measured"]["peak_bytes"][counter] - 1
    figures["difference"] = difference
    if abs(difference) > 0.03:
        raise Wrong("the prediction is %+.1f%% off" % (100 * difference), **figures)
    return ok("%s of batch %s, predicted to measured: %+.2f%%" % (counter, size, 100 * difference), **figures)


def soak(device):
    """The winner once more, for longer, with times by the clock and by the device's events."""
    seconds = {"cuda": 8, "cpu": 1}[device]
    size = str(BATCH[device])
    journal, stderr = tune(device, *TRAINED[device], "--batch", size, "--global-batch", size, "--soak", "%ds" % seconds)
    steps, events = journal.soak["step_seconds"], journal.soak.get("device_seconds") or []
    figures = {"steps": len(steps), "seconds": sum(steps), "device_seconds": sum(events), "trials": journal.rows()}
    if journal.soak["failure"] or sum(steps) < seconds:
        raise Wrong("the soak did not run to its end", **figures)
    if device == "cuda" and len(events) != len(steps):
        raise Wrong("%d steps have %d times by events" % (len(steps), len(events)), **figures)
    if device == "cuda" and sum(events) > 1.01 * sum(steps):
        raise Wrong("the device's events say more time than the clock", **figures)
    return ok("%d steps in %.1f s by the clock, %.1f s by events" % (len(steps), sum(steps), sum(events)), **figures)


def resnet50(device):
    """One command from nothing to the recommendation."""
    arguments = {"cuda": ["--model", "resnet", "--max-time", "40s", "--soak", "5s"], "cpu": ["--model", "lenet", "--max-trials", "3", "--soak", "1s"]}
    journal, stderr = tune(device, *arguments[device])
    figures = {"model": journal.header["model"], "recommendation": journal.recommendation, "trials": journal.rows(), "stderr": stderr}
    if not journal.recommendation["soaked"]:
        raise Wrong("the recommendation was not soaked", **figures)
    r = journal.recommendation
    return ok(
        "%s: %s %dx%d, %.1f samples/s"
        % (r["model"], r["precision"], r["micro_batch"], r["accumulation_steps"], r["throughput_samples_per_second"]["median"]),
        **figures,
    )


def killed(device):
    """kill -9 in the middle of a search: the worker goes too, and resume ends the search."""
    folder = new_folder()
    command = [BINARY, "tune", *training(device), "--out", folder, *TRAINED[device], *FEW_SIZES, "--max-trials", "5", "--soak", "1s"]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, cwd=FOLDER, stdout=log, stderr=log)
        try:
            while len(Journal(folder).trials) < 2 and process.poll() is None:
                time.sleep(0.02)
            workers = children(process.pid)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        log.seek(0)
        printed = log.read()
    before = Journal(folder)
    figures = {"trials_before": len(before.trials), "workers": workers, "printed": printed}
    if not workers or before.recommendation:
        raise Wrong("the search ended before it was killed", **figures)
    for _ in range(50):
        left = [pid for pid in workers if alive(pid)]
        if not left:
            break
        time.sleep(0.1)
    if left:
        raise Wrong("a worker outlived it", **figures)
    autotune("resume", folder)
    journal = Journal(folder)
    figures.update(trials_after=len(journal.trials), trials=journal.rows())
    if not journal.recommendation or journal.trials[: len(before.trials)] != before.trials:
        raise Wrong("resume did not go on with what was there", **figures)
    return ok("killed after %d trials, ended after %d" % (len(before.trials), len(journal.trials)), **figures)


def children(pid):
    """The processes whose parent has the number."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % name) as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(name))
        except OSError:
            pass  # it has ended meanwhile
    return found


def alive(pid):
    """Whether the process runs; one that has ended and that nobody has waited for does not."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


# Every section with its name and the seconds that it may take; check.py bounds them all together.
ALL = [
    ("environment", 20, environment),
    ("precisions", 30, precisions),
    ("oom", 30, oom),
    ("limit", 40, limit),
    ("neighbour", 30, neighbour),
    ("prediction", 30, prediction),
    ("soak", 30, soak),
    ("resnet50", 75, resnet50),
    ("killed", 40, killed),
]
