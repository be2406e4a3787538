"""Runs on data that are read from disk: the same weights, in bounded memory."""

import ctypes
import json
import pathlib
import struct
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import memory_group
import runs
from runs import merged, partitioned, small_rmat
from support import graphmill, program

IO_URING_SETUP = 425  # The same number on all architectures.
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2

FROM_DISK = ("--storage", "disk", "--disk-cache", "64KiB")


def without_io_uring():
    """Makes this process and its children get EPERM for io_uring, as in most
    containers."""
    load, if_equal, give = 0x20, 0x15, 0x06
    allow, refuse = 0x7FFF0000, 0x00050000 | 1
    code = b"".join(struct.pack("HBBI", *step) for step in (
        (load, 0, 0, 0), (if_equal, 0, 1, IO_URING_SETUP),
        (give, 0, 0, refuse), (give, 0, 0, allow)))
    buffer = ctypes.create_string_buffer(code)
    filters = struct.pack("HL", 4, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
                          ctypes.create_string_buffer(filters), 0, 0) != 0):
        raise OSError(ctypes.get_errno(), "seccomp")


class Disk(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "rmat", features=40)
        cls.parts = partitioned(cls.data, 2, "random")

    def train(self, definition, data, *more, within=(), **how):
        done = subprocess.run([*within, *self.arguments(definition, data),
                               *more], text=True, capture_output=True,
                              timeout=runs.PATIENCE_SECONDS, **how)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])

    def check_counts(self, disk):
        self.assertGreater(disk["rows_read"], 0)
        self.assertGreater(disk["reads"], 0)
        self.assertEqual(disk["rows_wanted"], disk["rows_found"]
                         + disk["rows_shared"] + disk["rows_read"])

    def test_weights_are_the_same(self):
        changes = ({}, {"fetch": {"precision": "float16"}},
                   {"model": {"kind": "gcn"}},
                   {"evaluate": {"neighbours": "all"},
                    "trainer": {"replicas": 2}},
                   {"faults": {"crash_every": 5, "reply_delay_ms": 3}})
        for i, change in enumerate(changes):
            data = (self.data, self.parts)[i % 2]
            with self.subTest(change=change, data=data.name):
                definition = merged(runs.SMALL, change)
                there = self.train(definition, data)
                self.assertIsNone(there["disk"])
                cold = self.train(definition, data, *FROM_DISK)
                self.assertEqual(cold["digest"], there["digest"])
                self.assertEqual(cold["test_accuracy"],
                                 there["test_accuracy"])
                self.check_counts(cold["disk"])

    def test_without_io_uring(self):
        there = self.train(runs.SMALL, self.data)
        cold = self.train(runs.SMALL, self.data, *FROM_DISK,
                          preexec_fn=without_io_uring)
        self.assertEqual(cold["digest"], there["digest"])
        self.check_counts(cold["disk"])

    def test_a_cache_of_everything_reads_every_row_once(self):
        run = self.train(runs.SMALL, self.data, "--storage", "disk",
                         "--disk-cache", "4MiB")
        self.check_counts(run["disk"])
        self.assertLessEqual(run["disk"]["rows_read"], 1024)

    def test_finished_runs(self):
        run = self.train(runs.SMALL, self.data)["run"]
        for command in (["evaluate", run], ["predict", run, "--out"]):
            answers = []
            for i, more in enumerate(((), FROM_DISK)):
                out = [self.top / f"{i}.npy"] if "--out" in command else []
                answer = self.ask(*command, *out, *more, "--quiet")
                answers.append(out[0].read_bytes() if out
                               else (answer["accuracy"], answer["loss"]))
            self.assertEqual(*answers)

    def test_plan_says_what_comes_from_disk(self):
        path = self.write(runs.SMALL, self.data)
        storage = self.ask("plan", path, "--data", self.data)["storage"]
        self.assertFalse(storage["from_disk"])
        plan = self.ask("plan", path, "--data", self.data, *FROM_DISK)
        storage = plan["storage"]
        self.assertTrue(storage["from_disk"])
        self.assertEqual(storage["row_cache_bytes"], 64 << 10)
        self.assertEqual(storage["feature_bytes"], 1024 * 40 * 4)
        self.assertGreater(storage["expected_disk_share"], 0)
        self.assertLess(storage["expected_disk_share"], 1)
        roomy = self.ask("plan", path, "--data", self.data, "--storage",
                         "disk", "--disk-cache", "4MiB")["storage"]
        self.assertEqual(roomy["expected_disk_share"], 0)
        self.assertIn("cache of rows from disk", plan["memory"])
        told = self.ask("plan", path, "--data", self.data, "--memory", "64MiB")
        self.assertTrue(told["storage"]["from_disk"])
        text = graphmill("plan", path, "--data", self.data, *FROM_DISK).stdout
        self.assertIn("read from disk", text)

    def test_cluster(self):
        definition = merged(runs.SMALL, {"trainer": {"replicas": 2}})
        there = self.train(definition, self.parts)
        done = self.ask("up", self.write(definition, self.parts), "--data",
                        self.parts, "--runs", self.top / "runs-up",
                        "--local", 2, "--quiet", *FROM_DISK)
        self.assertEqual(done["digest"], there["digest"])
        self.check_counts(done["disk"])
        for daemon in done["daemons"].values():
            self.assertIn("row reader",
                          [stage["stage"] for stage in daemon["stages"]])

    def test_daemons_on_one_machine_share_its_memory(self):
        definition = merged(runs.SMALL, {"trainer": {"replicas": 2}})
        path = self.write(definition, self.parts)
        for memory, from_disk in (((), False), (("--memory", "64MiB"), True)):
            done = self.ask("up", path, "--data", self.parts, "--runs",
                            self.top / "runs-share", "--local", 2, "--quiet",
                            *memory)
            self.assertEqual(done["disk"] is not None, from_disk)

    def test_less_memory_than_data(self):
        """In a group of its own, it sees by itself that data do not fit."""
        refused = memory_group.refused()
        if refused:
            self.skipTest(refused)
        data = runs.imported_rmat(self.top / "wide", scale=14, features=1024,
                                  classes=4, edges=60000)
        definition = merged(runs.SMALL, {"budget": {"bytes": 16 << 20}})
        there = self.train(definition, data)
        memory_group.forget_pages(data)
        size = sum(path.stat().st_size for path in data.rglob("*.npy"))
        with memory_group.MemoryGroup(
                there["peak_memory_bytes"] + size // 2) as group:
            plan = subprocess.run(
                [*group.within(), program(), "plan",
                 str(self.write(definition, data)), "--data", str(data),
                 "--json"], text=True, capture_output=True, check=True)
            cold = self.train(definition, data, within=group.within())
            self.assertEqual(group.killed(), 0)
        self.assertTrue(json.loads(plan.stdout)["storage"]["from_disk"])
        self.assertEqual(cold["digest"], there["digest"])
        self.check_counts(cold["disk"])


if __name__ == "__main__":
    program()
    unittest.main()
