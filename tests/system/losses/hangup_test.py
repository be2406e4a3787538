"""What a user expects when the terminal goes away: runs end in order."""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster, Daemon
from runs import (ENDLESS as DEFINITION, PATIENCE_SECONDS, merged, partitioned,
                  tiny_rmat)
from support import program, within_obstacles
from terminals import Terminal


class Interrupted(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = partitioned(tiny_rmat(cls.top / "rmat"), 2, "random")

    def setUp(self):
        self.runs = self.top / f"runs-{self.own_name}"

    @staticmethod
    def kill(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE_SECONDS)

    def command(self, name, *more, **changes):
        file = self.write(merged(DEFINITION, changes), self.data)
        return [program(), name, file, "--data", self.data, "--runs",
                self.runs, *more]

    def lines(self):
        """Whole lines of metrics so far."""
        return sum(file.read_text().count("\n")
                   for file in self.runs.glob("*/metrics.jsonl"))

    def await_lines(self, process, count):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.lines() < count:
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)

    def check_saved(self):
        folder, = (one for one in self.runs.iterdir() if one.is_dir())
        summary = json.loads((folder / "summary.json").read_text())
        self.assertTrue(summary["cancelled"], summary)
        self.assertGreater(summary["steps"], 2)
        done = self.ask("evaluate", folder, "--data", self.data)
        self.assertGreater(done["seeds"], 0)


class Hangup(Interrupted):
    """The window of a terminal is closed."""

    def setUp(self):
        super().setUp()
        self.terminal = Terminal()
        self.addCleanup(self.terminal.close)

    def start(self, *arguments):
        # There nohup leaves its nohup.out.
        process = self.terminal.start([str(word) for word in arguments],
                                      cwd=self.top)
        self.addCleanup(self.kill, process)
        return process

    def test_train(self):
        process = self.start(*self.command("train"))
        self.await_lines(process, 2)
        self.terminal.close()
        # A shell hangs up, too.
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 130)
        self.check_saved()

    def test_train_under_nohup(self):
        process = self.start("nohup", *self.command("train"))
        self.await_lines(process, 1)
        self.terminal.close()
        self.await_lines(process, self.lines() + 3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 130)
        self.check_saved()

    def test_up(self):
        process = self.start(*self.command("up", "--local", 2))
        self.await_lines(process, 2)
        self.terminal.close()
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 130)
        self.check_saved()

    def test_daemon(self):
        ready = self.top / "d0.ready"
        process = self.start(
            program(), "node", "--data", self.data, "--name", "d0",
            "--listen", "tcp://127.0.0.1:0", "--serve", 0,
            "--runs", self.runs, "--ready-file", ready)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not ready.exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        address = ready.read_text().strip()
        other = Daemon(self.top, "d1", self.data, "1", join=address)
        self.addCleanup(other.end)
        other.address()
        file = self.write(merged(DEFINITION, {"trainer": {"replicas": 2}}),
                          self.data)
        self.ask("submit", file, "--cluster", address)
        self.await_lines(process, 2)
        self.terminal.close()
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 0)
        self.check_saved()

    def test_watching_ends_and_the_run_goes_on(self):
        with Cluster(self.top / "cluster", self.data, ["0-1"]) as cluster:
            self.runs = cluster.folder / "runs"
            process = self.start(
                program(), "submit", self.write(DEFINITION, self.data),
                "--watch", "--cluster", cluster.coordinator)
            self.await_lines(process, 2)
            self.terminal.close()
            self.assertEqual(process.wait(PATIENCE_SECONDS), 130)
            before = self.lines()
            cluster.wait_until(lambda: self.lines() > before + 2, "more steps")
            self.assertIsNotNone(cluster.status()["running"])

    def test_who_is_shown_something_sees_that_the_terminal_is_closed(self):
        """The kernel takes the terminal away before it sends the signal; here
        none comes."""
        with Cluster(self.top / "cluster", self.data, ["0-1"]) as cluster:
            self.runs = cluster.folder / "runs"
            run = self.ask("submit", self.write(DEFINITION, self.data),
                           "--cluster", cluster.coordinator)["run"]
            for command in (["watch", run], ["logs", run, "--follow"],
                            ["events", "--follow"]):
                with self.subTest(command[0]):
                    self.terminal = Terminal()
                    self.addCleanup(self.terminal.close)
                    process = self.start(
                        "sh", "-c", "trap '' HUP; exec \"$@\"", "sh",
                        program(), *command, "--cluster", cluster.coordinator)
                    self.terminal.await_output(process, PATIENCE_SECONDS)
                    self.terminal.close()
                    self.assertEqual(process.wait(PATIENCE_SECONDS), 130)
            self.assertIsNotNone(cluster.status()["running"])


class BrokenPipe(Interrupted):
    """Somebody reads no more: `train | head`."""

    def test_a_run_goes_on(self):
        command = self.command("train", train={"epochs": 8})
        process = subprocess.Popen([str(word) for word in command],
                                   stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(self.kill, process)
        process.stdout.close()
        process.stderr.close()
        # Killed by SIGPIPE, if at all, when all is saved.
        self.assertIn(process.wait(PATIENCE_SECONDS), (0, -signal.SIGPIPE))
        folder, = self.runs.iterdir()
        summary = json.loads((folder / "summary.json").read_text())
        self.assertEqual(summary["epochs"], 8)
        self.assertIsNone(summary["error"])
        self.assertTrue((folder / "weights.safetensors").exists())


class Saving(Interrupted):
    """A disk is slow to take what a run leaves behind."""

    def start(self, slow, command):
        self.leave = self.top / f"{self.own_name}.leave"
        process = subprocess.Popen(
            [*within_obstacles(SLOW_FSYNC=slow, SLOW_FSYNC_UNTIL=self.leave),
             *map(str, command)], stdout=subprocess.DEVNULL,
            start_new_session=True)
        self.addCleanup(self.kill, process)
        return process

    def end(self, process, *signals):
        """Sends signals while it saves; returns its exit code."""
        begun = self.leave.with_name(f"{self.leave.name}.begun")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not begun.exists():
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        for number in signals:
            process.send_signal(number)
        self.leave.touch()
        code = process.wait(PATIENCE_SECONDS)
        self.leave.unlink()
        begun.unlink()
        return code

    def check_finished(self, *signals):
        process = self.start("weights", self.command(
            "train", "--quiet", train={"epochs": 2}))
        self.assertEqual(self.end(process, *signals), 0)
        folder, = self.runs.iterdir()
        summary = json.loads((folder / "summary.json").read_text())
        self.assertIsNone(summary["error"])
        self.assertTrue((folder / "weights.safetensors").exists())
        return folder

    def test_a_run_that_has_ended_is_saved(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number.name):
                self.runs = self.top / f"saved-{number.name}"
                self.check_finished(number)

    def test_impatience_does_not_help(self):
        self.check_finished(signal.SIGINT, signal.SIGTERM, signal.SIGINT)

    def test_a_run_that_was_stopped_is_saved(self):
        process = self.start("weights", self.command("train", "--quiet"))
        self.await_lines(process, 2)
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.end(process, signal.SIGINT), 130)
        self.check_saved()

    def test_predictions(self):
        folder = self.check_finished()
        out = self.top / "predictions.npy"
        process = self.start("predictions", [
            program(), "predict", folder, "--data", self.data, "--out", out])
        self.assertEqual(self.end(process, signal.SIGTERM), 0)
        self.assertTrue(out.exists())


class UnreadConsole(Interrupted):
    """Nobody reads what a daemon prints: a stopped terminal, a pipe whose
    reader has other things to do."""

    def test_a_daemon_serves_and_ends(self):
        read_end, write_end = os.pipe()
        self.addCleanup(os.close, read_end)
        os.set_blocking(write_end, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(write_end, b"." * 4096)
        os.set_blocking(write_end, True)
        ready = self.top / "unread.ready"
        process = subprocess.Popen(
            [program(), "node", "--data", self.data, "--name", "d0",
             "--listen", "tcp://127.0.0.1:0", "--runs", self.runs,
             "--ready-file", ready], stdout=write_end, stderr=write_end,
            start_new_session=True)
        os.close(write_end)
        self.addCleanup(self.kill, process)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not ready.exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        address = ready.read_text().strip()
        file = self.write(merged(DEFINITION, {"train": {"epochs": 2}}),
                          self.data)
        self.ask("submit", file, "--watch", "--quiet", "--cluster", address)
        self.ask("status", "--cluster", address)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE_SECONDS), 0)


if __name__ == "__main__":
    program()
    unittest.main()
