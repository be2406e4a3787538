"""What `graphmill top` shows in a terminal, and what its keys do."""

import fcntl
import os
import pathlib
import re
import signal
import struct
import sys
import termios
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from runs import PATIENCE_SECONDS, SMALL, merged, partitioned, small_rmat
from support import graphmill, program
from terminals import Terminal

LONG = merged(SMALL, {"train": {"epochs": 100000}, "checkpoint": {"keep": 0}})
GREEN = re.compile(rb"\x1b\[[0-9;]*32m")


class Screen(Terminal):
    """A terminal with `graphmill top` on it."""

    def __init__(self, cluster, *arguments, **variables):
        super().__init__()
        self.rows = 40  # And 41 in turn, see below.
        self.resize(self.rows, 80)
        self.before = termios.tcgetattr(self.screen)
        # Without what would stand for the size of the terminal.
        inherited = {name: value for name, value in os.environ.items()
                     if name not in ("LINES", "COLUMNS")}
        self.process = self.start(
            [program(), "top", *arguments, "--cluster", cluster.coordinator],
            env={**inherited, "TERM": "vt100", "LC_ALL": "C", **variables})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_SECONDS)
        self.close()

    def resize(self, rows, columns):
        """The kernel tells the program by SIGWINCH, which draws all anew."""
        fcntl.ioctl(self.user, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys):
        os.write(self.user, keys)

    def shows(self, *texts):
        return all(text in self.output for text in texts)

    def redrawn_shows(self, *texts):
        """Otherwise only characters that have changed are sent. Asked again and
        again, it finds what is there sooner or later."""
        self.rows = 81 - self.rows
        self.resize(self.rows, 80)
        return self.shows(*texts)

    def end(self):
        """Waits for it; returns the exit code."""
        return self.process.wait(PATIENCE_SECONDS)


class Top(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.parts = partitioned(small_rmat(cls.top / "rmat"), 2, "random")

    def assert_restored(self, screen):
        self.assertEqual(termios.tcgetattr(screen.screen), screen.before)

    def look(self, cluster, run):
        """Shows, sorts, grows; asks before it changes anything."""
        with Screen(cluster, run) as screen:
            cluster.wait_until(
                lambda: screen.redrawn_shows(b"d0", b"d1", b"verdict",
                                             b"sampler"),
                "daemons, actors and verdict")
            self.assertNotIn(b"credit%", screen.output)
            screen.resize(40, 160)
            cluster.wait_until(lambda: screen.shows(b"credit%"),
                               "columns of a wide screen")
            screen.press(b"sr")
            cluster.wait_until(lambda: screen.shows(b"reversed"),
                               "rows that are sorted")
            screen.press(b"l")
            cluster.wait_until(
                lambda: screen.redrawn_shows(b"log of daemon"),
                "log of a daemon")
            screen.press(b"l")
            screen.press(b"dncy")
            cluster.wait_until(
                lambda: cluster.ask("runs", run)["runs"][0]["state"]
                == "cancelled", "run that is cancelled")
            self.assertEqual(cluster.states(), {"d0": "ready", "d1": "ready"})
            screen.press(b"q")
            self.assertEqual(screen.end(), 0)
            self.assert_restored(screen)

    def colours(self, cluster, run):
        for no, shown in (("", True), ("1", False)):
            with Screen(cluster, run, TERM="xterm", NO_COLOR=no) as screen:
                cluster.wait_until(lambda: screen.shows(b"d0", b"d1", b"ready"),
                                   "screen")
                os.kill(screen.process.pid, signal.SIGTERM)
                self.assertEqual(screen.end(), 0)
                self.assert_restored(screen)
                self.assertEqual(bool(GREEN.search(screen.output)), shown)

    def closed(self, cluster, run):
        """A terminal that is closed ends it, and no signal kills it."""
        with Screen(cluster, run) as screen:
            cluster.wait_until(lambda: screen.shows(b"d0", b"d1"), "screen")
            screen.close()
            self.assertGreaterEqual(screen.end(), 0)

    def lines(self, cluster, run):
        """Without a terminal, and on one that takes lines alone."""
        done = graphmill("top", run, "--cluster", cluster.coordinator)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"run       {run}\nstate     cancelled", done.stdout)
        with Screen(cluster, run, TERM="dumb") as screen:
            self.assertEqual(screen.end(), 0)
            cluster.wait_until(lambda: screen.shows(b"state     cancelled"),
                               "line")
            self.assertNotIn(b"\x1b", screen.output)

    def gone(self, cluster):
        """The screen stays when the cluster is lost."""
        with Screen(cluster) as screen:
            cluster.wait_until(lambda: screen.shows(b"d0", b"d1"), "screen")
            for daemon in cluster.daemons:
                daemon.kill()
            cluster.wait_until(
                lambda: screen.redrawn_shows(b"nothing new for"),
                "word of the loss")
            self.assertIsNone(screen.process.poll())
            screen.press(b"q")
            self.assertEqual(screen.end(), 0)

    def test_top(self):
        with Cluster(self.top / "top", self.parts, ["0", "1"]) as cluster:
            run = cluster.ask("submit", self.write(LONG, self.parts))["run"]
            self.look(cluster, run)
            self.colours(cluster, run)
            self.closed(cluster, run)
            self.lines(cluster, run)
            self.gone(cluster)

    def test_nobody_is_there(self):
        with Screen(Nobody()) as screen:
            self.assertEqual(screen.end(), 1)
            self.assert_restored(screen)


class Nobody:
    coordinator = "tcp://127.0.0.1:1"


if __name__ == "__main__":
    program()
    unittest.main()
