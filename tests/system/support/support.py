"""Runs the built program and reads dataset folders without its code."""

import argparse
import atexit
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

SKIPPED = 77  # What Meson counts as skipped.
TROUBLED = 3  # What `status` ends with if something is wrong that it tells of.

try:
    import numpy as np
except ImportError:
    print("skipped: numpy is not installed (Debian: python3-numpy)")
    sys.exit(SKIPPED)

ROOT = pathlib.Path(__file__).resolve().parents[3]
SHARED = pathlib.Path(
    os.environ.get("GRAPHMILL_DATA", ROOT.parent / "shared" / "data"))
TIMEOUT_SECONDS = 200


# What a user has set leads to a cluster of theirs.
for name in ("GRAPHMILL_CLUSTER", "GRAPHMILL_KEY"):
    os.environ.pop(name, None)

# Under nohup it is ignored, and would be by all that is started here.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# What is remembered of data shall not outlive the test, and neither shall the
# user's key, which daemons and clients that name none find there, nor the local
# sockets of daemons that are killed.
for name in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"):
    os.environ[name] = tempfile.mkdtemp(prefix="graphmill-")
    atexit.register(shutil.rmtree, os.environ[name], True)


def program():
    """Path of the graphmill to test; taken off the arguments on first use."""
    if "GRAPHMILL" not in os.environ:
        if len(sys.argv) < 2:
            sys.exit("usage: GRAPHMILL=path of graphmill, or as argument")
        os.environ["GRAPHMILL"] = str(pathlib.Path(sys.argv.pop(1)).resolve())
    return os.environ["GRAPHMILL"]


class ScriptOptions(argparse.ArgumentParser):
    """Options of a script that is no test, behind the graphmill that it tries."""

    def __init__(self, doc):
        super().__init__(
            description=doc.split("\n\n")[0],
            formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        self.add_argument("binary", help="the built graphmill")

    def parse_args(self):
        given = super().parse_args()
        os.environ["GRAPHMILL"] = str(pathlib.Path(given.binary).resolve())
        return given


def within_obstacles(**settings):
    """A command that starts a program with obstacles.cpp in its way."""
    library = (pathlib.Path(program()).parents[1]
               / "tests/system/support/obstacles.so")
    assert library.exists(), f"{library} is not built"
    return ["env", f"LD_PRELOAD={library}",
            *(f"{name}={value}" for name, value in settings.items())]


def graphmill(*arguments, within=()):
    """Runs graphmill to its end and returns the finished process; `within` is a
    command that starts it somewhere else."""
    return subprocess.run([*within, program(), *map(str, arguments)],
                          text=True, capture_output=True,
                          timeout=TIMEOUT_SECONDS)


def imported(kind, *arguments):
    """Imports and returns the summary that --json prints."""
    done = graphmill("import", kind, "--quiet", "--json", *arguments)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    assert done.stderr == "", done.stderr
    return json.loads(done.stdout.splitlines()[-1])


class Dataset:
    """A dataset folder, read by numpy alone."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.info = json.loads((self.folder / "dataset.json").read_text())

    def node_type(self, name):
        return next(t for t in self.info["node_types"] if t["name"] == name)

    def node_array(self, node_type, name):
        """An array of a node type, or None."""
        path = self.folder / "nodes" / node_type / f"{name}.npy"
        return np.load(path) if path.exists() else None

    def edge_array(self, edge_type, name):
        return np.load(self.folder / "edges" / edge_type / f"{name}.npy")

    def edge_types(self):
        return [f"{t['source']}__{t['name']}__{t['destination']}"
                for t in self.info["edge_types"]]

    def edges(self, edge_type):
        """All edges as [2, E]: by destination, in list order."""
        indptr = self.edge_array(edge_type, "indptr")
        sources = self.edge_array(edge_type, "indices").astype(np.int64)
        assert indptr.dtype == np.int64 and indptr[0] == 0
        assert indptr[-1] == len(sources)
        counts = np.diff(indptr)
        assert (counts >= 0).all()
        destinations = np.repeat(np.arange(len(counts)), counts)
        return np.stack([sources, destinations])


def sorted_by_destination(edges):
    """What `Dataset.edges` must give for a list of edges [2, E]."""
    return edges[:, np.argsort(edges[1], kind="stable")]
