"""Imports and partitionings that are interrupted."""

import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from imports import Workplace
from support import Dataset, imported, program


class Interrupted(Workplace):
    """Leaves nothing behind, hidden or not, and may be done again."""

    def start(self, folder, *sizes):
        return subprocess.Popen(
            [program(), "import", "rmat", "--quiet", *sizes, "--out",
             folder / "rmat"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def wait_until(self, process, there):
        while not there():
            self.assertIsNone(process.poll(), "it ends by itself")
            time.sleep(0.001)

    def check_stopped(self, process, number):
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertIn("stopped by the user; nothing was kept", said)

    def check(self, number):
        folder = self.out.parent / f"stopped-by-{number}"
        folder.mkdir()
        process = self.start(folder, "--scale", "22", "--edges", "50000000",
                             "--features", "64")
        self.wait_until(
            process, lambda: any(folder.glob(".rmat.partial-*/**/*.npy")))
        self.check_stopped(process, number)
        self.assertEqual(list(folder.iterdir()), [])
        imported("rmat", "--scale", 4, "--edges", 50, "--out",
                 folder / "rmat")

    def test_interrupt(self):
        self.check(signal.SIGINT)

    def test_terminate(self):
        self.check(signal.SIGTERM)

    def test_while_leftovers_are_removed(self):
        left = self.results / ".rmat.partial-1"
        left.mkdir()
        for i in range(20000):
            (left / str(i)).touch()
        process = self.start(self.results, "--scale", "22", "--edges",
                             "50000000")
        self.wait_until(process, (self.results / ".rmat.lock").exists)
        self.check_stopped(process, signal.SIGINT)
        self.assertEqual(list(self.results.iterdir()), [])

    def test_too_late(self):
        """The dataset is there: it stays, and nobody says otherwise."""
        out = self.results / "rmat"
        process = self.start(self.results, "--scale", "4", "--edges", "50")
        while not out.exists() and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
        # Once the dataset is reported, signals are nothing special.
        self.assertIn(process.returncode, (0, -signal.SIGINT))
        self.assertEqual(said, "")
        self.assertEqual(list(self.results.iterdir()), [out])
        Dataset(out)


class InterruptedPartition(Workplace):
    """As above: neither folder nor lock is left."""

    def check(self, *numbers):
        data = self.results / "rmat"
        imported("rmat", "--scale", 16, "--edges", 4000000, "--features", 4,
                 "--out", data)
        out = self.results / "parts"
        out.mkdir()
        process = subprocess.Popen(
            [program(), "partition", data, "--parts", "4", "--quiet",
             "--no-verify", "--out", out / "rmat"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        while not any(out.glob(".rmat.partial-*")):
            self.assertIsNone(process.poll(), "it ends by itself")
            time.sleep(0.001)
        for number in numbers:
            process.send_signal(number)
        _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, said)
        self.assertIn("stopped", said)
        self.assertEqual(list(out.iterdir()), [])

    def test_interrupt(self):
        self.check(signal.SIGINT)

    def test_terminate(self):
        self.check(signal.SIGTERM)

    def test_hangup(self):
        self.check(signal.SIGHUP, signal.SIGHUP)


if __name__ == "__main__":
    support.program()
    unittest.main(verbosity=2)
