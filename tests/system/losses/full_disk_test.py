"""The coordinator's disk is full, or cannot be written, while a run is on: it
goes on, or ends with its last checkpoint, and says so in one sentence."""

import contextlib
import ctypes
import os
import pathlib
import signal
import stat
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from runs import SMALL, merged, partitioned, small_rmat
from supervised import Supervised
from support import SKIPPED, program

CLONE_NEWNS = 0x20000
# Of all tests: a run leaves some 600 KiB.
DISK_BYTES = 16 << 20
# Too little for a checkpoint, enough for lines and for the history.
LINES_BYTES = 96 << 10
FULL_DEVICE = os.makedev(1, 7)  # That of /dev/full.
ONE_RUN_SECONDS = 200

# 13 steps an epoch; a checkpoint has some 200 KiB.
DEFINITION = merged(SMALL, {
    "model": {"hidden": 256},
    "train": {"batch_size": 8, "epochs": 3, "record_steps": True},
    "trainer": {"replicas": 2},
    "placement": {"trainers": ["t0", "t1"]},
    "checkpoint": {"every_steps": 2},
})
SLOW = {"faults": {"trainer_delay_ms": 200}}
LAYOUT = [("c", "none", "--slots", "0"), ("t0", "0", "--slots", "1"),
          ("t1", "1", "--slots", "1")]


def refused():
    """Gives this process and its children mounts of their own, which end with
    them. Returns why they cannot have any; None if they have."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        return f"no mounts of its own: {os.strerror(ctypes.get_errno())}"
    for arguments in (["--make-rprivate", "/"],
                      ["-t", "tmpfs", "-o", "size=64k", "none", "/mnt"],
                      ["--bind", "/mnt", "/mnt"],
                      ["-o", "remount,bind,ro", "/mnt"]):
        done = subprocess.run(["mount", *arguments], text=True,
                              capture_output=True)
        if done.returncode != 0:
            return f"cannot mount a tiny file system: {done.stderr.strip()}"
    return None


def free_bytes(disk):
    there = os.statvfs(disk)
    return there.f_bavail * there.f_bsize


class FullDisk(runs.Workplace):
    """One cluster, whose runs go to a tiny file system; each test leaves it
    with room, and whole."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.parts = partitioned(small_rmat(cls.top / "rmat"), 2, "random")
        cls.disk = cls.top / "cluster" / "runs"
        cls.disk.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o",
                        f"size={DISK_BYTES},mode=700", "none", str(cls.disk)],
                       check=True)
        cls.addClassCleanup(subprocess.run, ["umount", "-l", str(cls.disk)])
        cls.cluster = Supervised(cls.disk.parent, cls.parts, LAYOUT)
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.digest = None

    def setUp(self):
        self.addCleanup(self.make_room)
        if self.digest is None:
            type(self).digest = self.train(DEFINITION, self.parts)["digest"]
        self.await_it(self.cluster.all_there, "daemons")

    def await_it(self, condition, what):
        self.assertTrue(
            self.cluster.wait_until(condition, what, ONE_RUN_SECONDS),
            f"no {what}\n{self.cluster.logs()}")

    # -- the disk

    def skip_without_devices(self):
        """Root of a container may be allowed mounts, and no device."""
        probe = self.disk / "probe"
        try:
            os.mknod(probe, stat.S_IFCHR | 0o600, FULL_DEVICE)
            probe.open("ab").close()
        except PermissionError as failure:
            self.skipTest(f"no device of its own: {failure}")
        finally:
            probe.unlink(missing_ok=True)

    def fill(self, leave=0):
        """Takes all room but some bytes."""
        with (self.disk / "filler").open("ab", buffering=0) as filler:
            try:
                while free_bytes(self.disk) > leave:
                    filler.write(bytes(4096))
            except OSError:
                pass

    def make_room(self):
        (self.disk / "filler").unlink(missing_ok=True)

    # -- runs

    def submit(self, change=None):
        file = self.write(merged(DEFINITION, change or SLOW), self.parts)
        return self.cluster.ask("submit", file)["run"]

    def begin(self, change=None):
        """Submits a run; returns its id once it has a checkpoint of a step."""
        run = self.submit(change)
        self.await_it(lambda: len(self.checkpoints(run)) == 2, "checkpoints")
        return run

    def checkpoints(self, run):
        return sorted(path.name for path in
                      (self.disk / run / "checkpoints").glob("[0-9]*"))

    def log(self, run):
        try:
            return (self.disk / run / "log.txt").read_text()
        except OSError:
            return ""

    def end_of(self, run):
        """The record of a run once it is over."""
        def over():
            now = self.cluster.record(run)
            return now and now["state"] in ("finished", "failed")
        self.await_it(over, f"end of {run}")
        return self.cluster.record(run)

    def check_finished(self, run):
        record = self.end_of(run)
        self.assertEqual(record["state"], "finished",
                         f"{record['message']}\n{self.cluster.logs()}")
        self.assertEqual(record["summary"]["digest"], self.digest)

    def check_ends_well(self, run):
        """There is room again. What was written first, while there was none,
        decides whether the run has gone on; else it goes on when it is told
        to."""
        record = self.end_of(run)
        if record["state"] == "failed":
            self.check_sentence(record["message"], "No space left on device")
            self.await_it(self.cluster.all_there, "daemons")
            run = self.cluster.ask("resume", run)["run"]
        self.check_finished(run)

    def check_sentence(self, text, fragment):
        """It says once what is wrong, on one line."""
        self.assertIn(fragment, text)
        self.assertNotIn("\n", text.strip())

    def console(self, since=0):
        """What the coordinator's daemon and its successors have printed."""
        return self.cluster.daemon("c").log.read_text()[since:]

    def await_line(self, fragment, since=0):
        """The first line of the console with it."""
        def found():
            return [line for line in self.console(since).splitlines()
                    if fragment in line]
        self.await_it(found, f"`{fragment}`")
        return found()[0]

    def await_successor(self, since):
        """Nobody is asked before: a client without a coordinator waits for
        long, and nobody starts one meanwhile."""
        self.await_line(" of its cluster", since)

    # -- no room

    def test_checkpoints_that_do_not_fit(self):
        run = self.begin()

        def complained():
            self.fill(LINES_BYTES)  # Old checkpoints leave room, too.
            return "no checkpoint: " in self.log(run)
        self.await_it(complained, "word of a checkpoint")
        kept = self.checkpoints(run)
        self.assertTrue(kept)
        self.make_room()
        self.check_finished(run)
        said = next(line for line in self.log(run).splitlines()
                    if "no checkpoint: " in line)
        self.check_sentence(said, "No space left on device; training goes on, "
                                  "and the checkpoints before it stay")

    def test_metrics_and_steps(self):
        """A run ends whose results cannot be written; it goes on later. It is
        slow enough to have most of its steps to do yet, whatever else the
        machine does: a few lines more would fit into the last page."""
        run = self.begin({"faults": {"trainer_delay_ms": 300}})
        self.fill()
        record = self.end_of(run)
        self.assertEqual(record["state"], "failed")
        self.assertRegex(record["message"],
                         r"(steps|metrics)\.jsonl: No space left")
        self.assertIn(f"`graphmill resume {run}`", record["message"])
        self.assertTrue(self.checkpoints(run))
        self.make_room()
        self.check_ends_well(run)

    def test_the_log(self):
        """It has no part in what comes out."""
        self.skip_without_devices()
        first = self.begin()
        self.cluster.ask("drain", "t1")  # So the next one waits.
        run = self.submit({"faults": {"trainer_delay_ms": 0}})
        os.mknod(self.disk / run / "log.txt", stat.S_IFCHR | 0o600,
                 FULL_DEVICE)
        self.cluster.ask("drain", "t1", "--back")
        self.check_finished(first)
        self.check_finished(run)

    def test_the_journal(self):
        """Nothing is taken that could be lost with the next coordinator."""
        self.fill()
        said = self.cluster.refused(
            "submit", self.write(DEFINITION, self.parts))
        self.check_sentence(said, "No space left on device")
        self.make_room()
        self.check_finished(self.submit({}))

    def test_a_trainer_dies(self):
        run = self.begin()
        self.fill()
        self.cluster.kill("t1")

        def is_off():  # It waits for room, or has failed.
            now = self.cluster.record(run)
            return now and now["state"] != "running"
        self.await_it(is_off, "end of the attempt")
        self.await_it(self.cluster.all_there, "daemons")
        self.make_room()
        self.check_ends_well(run)

    def test_the_coordinator_dies(self):
        """The next one does not begin without what the last one has left."""
        run = self.begin()
        since = len(self.console())
        self.fill()
        self.cluster.kill("c")
        said = self.await_line("graphmill: cannot", since)
        self.check_sentence(said, "full")
        self.make_room()
        self.await_successor(since)
        self.check_ends_well(run)

    # -- nothing may be written

    def set_read_only(self, wanted):
        """For files that are opened from now on; those that are open stay as
        they are, for a file system in use cannot be changed."""
        folder = str(self.disk)
        if wanted:
            subprocess.run(["mount", "--bind", folder, folder], check=True)
            subprocess.run(["mount", "-o", "remount,bind,ro", folder],
                           check=True)
        else:
            subprocess.run(["umount", "-l", folder], check=True)

    @contextlib.contextmanager
    def held(self, name):
        """Stops a daemon, and with it the run, for a moment: not so long that it
        counts as lost."""
        process = self.cluster.daemon(name).process.pid
        os.kill(process, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(process, signal.SIGCONT)

    def test_read_only_while_a_run_is_on(self):
        run = self.begin()
        with self.held("t0"):
            self.set_read_only(True)
        try:
            record = self.end_of(run)
        finally:
            self.set_read_only(False)
        self.assertEqual(record["state"], "failed", record)
        self.check_sentence(record["message"], "Read-only file system")
        self.assertIn(f"`graphmill resume {run}`", record["message"])
        self.await_it(self.cluster.all_there, "daemons")
        self.check_finished(self.cluster.ask("resume", run)["run"])

    def test_read_only_when_the_coordinator_dies(self):
        run = self.begin()
        since = len(self.console())
        self.set_read_only(True)
        try:
            self.cluster.kill("c")
            said = self.await_line("graphmill: ", since)
        finally:
            self.set_read_only(False)
        self.check_sentence(said, "Read-only file system")
        self.await_successor(since)
        self.check_finished(run)


if __name__ == "__main__":
    program()
    WHY = refused()
    if WHY:
        print(f"skipped: {WHY}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
