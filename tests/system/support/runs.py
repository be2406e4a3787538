"""Training runs of the built program, and what they leave behind."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import support
from support import graphmill

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[2] / "pipelines/results"))
from read_safetensors import read_safetensors  # noqa: E402

# Bounds every wait for a process: no test may hang.
PATIENCE_SECONDS = 200

# Runs for a moment, on what `small_rmat` makes: 33 divides neither the 102
# seeds of an epoch nor by two trainers.
SMALL = {
    "seed": 7,
    "sampler": {"fanouts": [4, 3]},
    "model": {"kind": "sage", "hidden": 16, "dropout": 0.3},
    "train": {"batch_size": 33, "epochs": 2},
    "evaluate": {"batch_size": 40},
}


def merged(*definitions):
    """Definitions on top of each other, section by section."""
    out = {}
    for definition in definitions:
        for key, value in definition.items():
            if isinstance(value, dict):
                value = {**out.get(key, {}), **value}
            out[key] = value
    return out


def model_kinds():
    """All kinds of models that learn nodes."""
    text = graphmill("help", "definition").stdout
    kinds = re.search(r"\nmodel\n  kind\n      one of (.*?)\n      default",
                      text, re.DOTALL).group(1)
    return [kind for kind in re.split(r",\s+", kinds)
            if kind not in ("lookup", "lightgcn")]


def described(change):
    """A change of a definition as the options that make it."""
    return " ".join(f"{section}.{key}={value}"
                    for section, fields in change.items()
                    for key, value in fields.items()) or "as it is"


def user_key():
    """Where the user's own key is made: in a folder of these tests."""
    return pathlib.Path(os.environ["XDG_CONFIG_HOME"], "graphmill", "key")


def name_of(data):
    """Name of a dataset, whole or in parts."""
    if (data / "partitions.json").exists():
        return json.loads((data / "partitions.json").read_text())[
            "dataset"]["name"]
    return json.loads((data / "dataset.json").read_text())["name"]


class Workplace(unittest.TestCase):
    """A temporary folder per class for datasets and runs."""

    @classmethod
    def setUpClass(cls):
        cls.top = pathlib.Path(tempfile.mkdtemp(prefix="graphmill-"))
        cls.addClassCleanup(shutil.rmtree, cls.top, ignore_errors=True)
        cls.runs = cls.top / "runs"
        cls.digests = {}

    @property
    def own_name(self):
        """Of this test among those of its class: for what it has of its own."""
        return self.id().split(".")[-1]

    def write(self, definition, data, name=""):
        """Writes a definition for a dataset; YAML allows it to be JSON."""
        path = self.top / f"{self.own_name}{name}.yaml"
        path.write_text(json.dumps({"dataset": name_of(data), **definition}))
        return path

    def arguments(self, definition, data):
        return [support.program(), "train", str(self.write(definition, data)),
                "--data", str(data), "--runs", str(self.runs),
                "--json", "--quiet"]

    def train(self, definition, data, *flags):
        """Trains to the end and returns the summary."""
        done = subprocess.run([*self.arguments(definition, data), *flags],
                              text=True, capture_output=True,
                              timeout=PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def digest(self, definition, data, *flags):
        """Of the weights that such a run ends with; tests of a class that ask for
        it again share the run."""
        key = json.dumps([definition, *map(str, (data, *flags))],
                         sort_keys=True)
        if key not in self.digests:
            self.digests[key] = self.train(definition, data, *flags)["digest"]
        return self.digests[key]

    def weights(self, summary):
        return read_safetensors(
            pathlib.Path(summary["run"]) / "weights.safetensors")

    def check_killed(self, definition, data, phases):
        """Ends a run by SIGKILL behind so many phases: resumed, it has the
        weights of one that nothing has happened to."""
        slow = merged(definition, {"faults": {"trainer_delay_ms": 40},
                                   "checkpoint": {"every_steps": 2}})
        expected = self.train(definition, data)
        self.runs = self.top / "killed"
        with Running(self.arguments(slow, data)) as run:
            run.await_phases(phases)
            run.signal(signal.SIGKILL)
            run.end()
        self.assertEqual(self.ask("resume", run.folder(), "--quiet")["digest"],
                         expected["digest"])

    def ask(self, *arguments):
        """Runs a command that ends its output with one line of JSON."""
        done = graphmill(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])


def imported_rmat(out, **options):
    """Generates a dataset of known size, with options as in `import rmat`;
    returns its folder."""
    flags = [f"--{name}={value}" if len(name) > 1 else f"-{name}{value}"
             for name, value in options.items()]
    support.imported("rmat", "--out", out, *flags)
    return out


def small_rmat(out, **options):
    return imported_rmat(out, **{
        "scale": 10, "edges": 6000, "features": 12, "classes": 4, "seed": 3,
        **options})


# Runs for a moment, on what `tiny_rmat` makes.
TINY = {
    "sampler": {"fanouts": [4, 4]},
    "model": {"hidden": 16},
    "train": {"batch_size": 32, "epochs": 2},
}
# Goes on until somebody ends it.
ENDLESS = merged(TINY, {
    "train": {"epochs": 100000},
    "evaluate": {"every": 50000},
    "faults": {"trainer_delay_ms": 5},
})


def tiny_rmat(out, **options):
    return imported_rmat(out, **{
        "scale": 9, "edges": 3000, "features": 8, "classes": 3, "train": 0.2,
        **options})


def partitioned(dataset, parts, method):
    """Cuts a dataset; returns the folder of the parts."""
    out = dataset.with_name(f"{dataset.name}-{method}-{parts}")
    done = graphmill("partition", dataset, "--parts", parts, "--method",
                     method, "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    return out


class Running:
    """A training run under way, in a process group of its own."""

    def __init__(self, arguments):
        self.runs = pathlib.Path(arguments[arguments.index("--runs") + 1])
        self.process = subprocess.Popen(
            arguments, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def folder(self):
        """The run folder, once there is one."""
        return next(iter(self.runs.glob("*")), None)

    def phases(self):
        """The whole lines of metrics.jsonl so far."""
        folder = self.folder()
        if folder is None or not (folder / "metrics.jsonl").exists():
            return []
        text = (folder / "metrics.jsonl").read_text()
        return [json.loads(line) for line in text.split("\n")[:-1]]

    def wait_until(self, condition, what):
        """Waits for a condition while the run goes on."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline, f"no {what} in time"
            time.sleep(0.005)

    def await_phases(self, count):
        self.wait_until(lambda: len(self.phases()) >= count, "end of a phase")

    def await_log(self, text):
        def there():
            log = self.folder() and self.folder() / "log.txt"
            return log and log.exists() and text in log.read_text()
        self.wait_until(there, f"`{text}` in the log")

    def signal(self, number):
        os.kill(self.process.pid, number)

    def end(self):
        """Waits for the end; returns exit code, output and errors."""
        out, err = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode, out, err

    def left_behind(self):
        """Processes of the run that live on."""
        found = []
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rsplit(")", 1)[1].split()
                state, group = fields[0], fields[2]
            except (OSError, IndexError):
                continue  # It has ended while we looked.
            if int(group) == self.process.pid and state != "Z":
                found.append(stat.parent.name)
        return found
