#!/usr/bin/python3
"""Captures `graphmill top` before a real cluster, in the states that a user must
tell apart.

    python3 tests/system/watching/top_captures.py build/actors/graphmill FOLDER

Leaves FOLDER/STATE-80x24.txt and FOLDER/STATE-160x50.txt of: idle, training,
starved, lost, recovering, finished, failed. Each is taken once what makes the state
stands on both screens, in half a minute. The captures that pages show are of recorded figures
(tests/actors/commands/top/top_captures_test.cpp); these are to be looked at.
"""

import json
import os
import pathlib
import re
import signal
import sys
import tempfile

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from clusters import Cluster
from runs import SMALL, merged, name_of, partitioned, small_rmat
from screens import Screen
from support import program
from terminals import Terminal

SIZES = ((24, 80), (50, 160))
LONG = merged(SMALL, {"train": {"epochs": 100000}, "checkpoint": {"keep": 0},
                      "trainer": {"replicas": 2}})
SLOW = merged(LONG, {"faults": {"reply_delay_ms": 40}})
FRAGILE = merged(LONG, {"recovery": {"wait": 0}})


class Captured:
    """`top` on a terminal of some size."""

    def __init__(self, cluster, rows, columns):
        self.size = rows, columns
        self.terminal = Terminal(rows, columns)
        inherited = {name: value for name, value in os.environ.items()
                     if name not in ("LINES", "COLUMNS")}
        self.process = self.terminal.start(
            [program(), "top", "--cluster", cluster.coordinator],
            env={**inherited, "TERM": "vt100", "LC_ALL": "C.UTF-8"})

    def text(self):
        return "\n".join(
            Screen(*self.size).take(self.terminal.output).lines()) + "\n"

    def end(self):
        self.process.kill()
        self.process.wait()
        self.terminal.close()


def capture(cluster, state, sign, folder):
    """@param sign A pattern that stands on the screen in this state alone."""
    tops = [Captured(cluster, *size) for size in SIZES]
    try:
        texts = []

        def is_shown():
            texts[:] = [top.text() for top in tops]
            return all(re.search(sign, text) for text in texts)
        cluster.wait_until(is_shown, f"screens with {sign}")
        for (rows, columns), text in zip(SIZES, texts):
            (folder / f"{state}-{columns}x{rows}.txt").write_text(text)
        print(f"--- {state}\n{texts[0]}", flush=True)
    finally:
        for top in tops:
            top.end()


def submit(cluster, top, definition):
    file = top / "definition.yaml"
    file.write_text(json.dumps({"dataset": name_of(cluster.data), **definition}))
    return cluster.ask("submit", file)["run"]


def end(cluster, run):
    cluster.ask("cancel", run)
    cluster.wait_until(
        lambda: cluster.ask("runs", run)["runs"][0]["state"] == "cancelled",
        "end of a run")


def begin_and_lose(cluster, top, definition, how):
    """A daemon, by a signal, while the run is on; returns the run's id."""
    run = submit(cluster, top, definition)
    cluster.wait_until(
        lambda: cluster.ask("status", run)["state"] == "running", "run")
    os.kill(cluster.daemons[-1].process.pid, how)
    return run


def capture_all(cluster, top, folder):
    capture(cluster, "idle", "no run yet", folder)
    run = submit(cluster, top, LONG)
    capture(cluster, "training", r"progress  train(.|\n)*trainer 0", folder)
    end(cluster, run)
    run = submit(cluster, top, SLOW)
    capture(cluster, "starved", r"trainer \d +d\d +starved", folder)
    end(cluster, run)
    submit(cluster, top, SMALL)
    capture(cluster, "finished", r" finished  at ", folder)
    run = begin_and_lose(cluster, top, LONG, signal.SIGSTOP)
    capture(cluster, "lost", r"\nd1 +(silent|lost)", folder)
    cluster.daemons[-1].kill()
    capture(cluster, "recovering", r"state     queued: ", folder)
    cluster.add("1", name="d1")
    cluster.await_daemons(2)
    end(cluster, run)
    begin_and_lose(cluster, top, FRAGILE, signal.SIGKILL)
    capture(cluster, "failed", r"state     failed: ", folder)


def main():
    program()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="graphmill-captures-") as made:
        top = pathlib.Path(made)
        parts = partitioned(small_rmat(top / "rmat"), 2, "random")
        with Cluster(top / "cluster", parts, ["0", "1"]) as cluster:
            capture_all(cluster, top, folder)


if __name__ == "__main__":
    main()
