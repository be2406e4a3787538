#!/usr/bin/python3
"""Captures `graphmill top` before a real cluster, in the states that a user must
tell apart.

    python3 tests/system/watching/top_captures.py build/actors/graphmill FOLDER

Leaves FOLDER/STATE-80x24.txt and FOLDER/STATE-160x50.txt of: idle, training,
starved, lost, recovering, finished, failed. Each is taken once what makes the state
stands on both screens, in half a minute. The captures that pages show are of recorded figures
(tests/actors/commands/top/top_captures_test.cpp); these are to be looked at.
"""

import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from captured_states import in_each_state
from clusters import Cluster
from runs import partitioned, small_rmat
from screens import Screen
from support import program
from terminals import Terminal

SIZES = ((24, 80), (50, 160))
SIGNS = {  # Patterns that stand on the screen in this state alone.
    "idle": "no run yet",
    "training": r"progress  train(.|\n)*trainer 0",
    "starved": r"trainer \d +d\d +starved",
    "finished": r" finished  at ",
    "lost": r"\nd1 +(silent|lost)",
    "recovering": r"state     queued: ",
    "failed": r"state     failed: ",
}


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


def capture(cluster, state, folder):
    tops = [Captured(cluster, *size) for size in SIZES]
    try:
        texts = []

        def is_shown():
            texts[:] = [top.text() for top in tops]
            return all(re.search(SIGNS[state], text) for text in texts)
        cluster.wait_until(is_shown, f"screens with {SIGNS[state]}")
        for (rows, columns), text in zip(SIZES, texts):
            (folder / f"{state}-{columns}x{rows}.txt").write_text(text)
        print(f"--- {state}\n{texts[0]}", flush=True)
    finally:
        for top in tops:
            top.end()


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
            in_each_state(cluster, top,
                          lambda state: capture(cluster, state, folder))


if __name__ == "__main__":
    main()
