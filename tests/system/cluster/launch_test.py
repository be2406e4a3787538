"""Clusters that a command starts and ends, and daemons that launchers start."""

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
from clusters import free_port
from runs import PATIENCE_SECONDS, TINY as DEFINITION, merged, partitioned
from support import program

ENDLESS = merged(runs.ENDLESS, {"recovery": {"wait": 0}})

# Runs the command here, in a folder of its own, as a login shell there would.
STUB_SSH = """#!/bin/sh
echo "$@" >> "$STUB_LOG"
while [ "$1" != -- ]; do shift; done
cd "$STUB_HOME" && exec sh -c "$3"
"""


class Launch(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = partitioned(runs.tiny_rmat(cls.top / "rmat"), 3, "random")

    def setUp(self):
        self.temporary = self.top / f"tmp-{self.own_name}"
        self.temporary.mkdir()
        self.runs = self.top / f"runs-{self.own_name}"
        # Marks all processes of this test: they inherit it.
        self.mark = f"GRAPHMILL_TEST={self.temporary}"
        self.environment = {**os.environ, "TMPDIR": str(self.temporary),
                            "GRAPHMILL_TEST": str(self.temporary)}
        self.addCleanup(self.end_what_is_left)

    def ours(self):
        """Processes of this test that live, by id."""
        found = {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if self.mark.encode() not in (folder / "environ").read_bytes():
                    continue
                words = (folder / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue  # Gone, or not ours.
            if words != [b""]:
                found[int(folder.name)] = [word.decode() for word in words]
        return found

    def end_what_is_left(self):
        for process in self.ours():
            os.kill(process, signal.SIGKILL)

    def check_nothing_left(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.ours() and time.monotonic() < deadline:
            time.sleep(0.02)  # The kernel may still be at it.
        self.assertEqual(self.ours(), {})
        self.assertEqual(list(self.temporary.iterdir()), [])

    def start(self, *arguments, **more):
        return subprocess.Popen(
            [program(), *map(str, arguments)], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**self.environment, **more})

    def up(self, definition, *arguments, **more):
        """Starts `up`, quietly."""
        path = self.write(definition, self.data)
        return self.start("up", path, "--data", self.data, "--runs", self.runs,
                          "--json", "--quiet", *arguments, **more)

    def summary_of(self, process):
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(err, "")
        return json.loads(out)

    def await_metrics(self):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not any(file.stat().st_size
                      for file in self.runs.glob("*/metrics.jsonl")):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)


class Local(Launch):
    def test_any_number_of_daemons_gives_the_same_weights(self):
        for trainers, daemons in ((1, 1), (1, 2), (2, 4)):
            with self.subTest(trainers=trainers, daemons=daemons):
                definition = merged(DEFINITION,
                                    {"trainer": {"replicas": trainers}})
                alone = self.train(definition, self.data)
                summary = self.summary_of(self.up(
                    definition, "--local", daemons, "--tag", "first"))
                self.assertEqual(summary["digest"], alone["digest"])
                self.assertEqual(summary["test_accuracy"],
                                 alone["test_accuracy"])
                self.assertEqual(summary.keys(), alone.keys())
                folder = pathlib.Path(summary["run"])
                self.assertIn("-first-", folder.name)
                self.assertTrue((folder / "weights.safetensors").exists())
                self.check_nothing_left()

    def test_a_key_of_the_environment_is_used_throughout(self):
        key = self.data.parent / "cluster.key"
        made = self.start("keygen", key)
        made.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(made.returncode, 0)
        for more in ({"GRAPHMILL_KEY": str(key)}, {}):
            flags = [] if more else ["--key", key]
            with self.subTest(flags=flags):
                self.summary_of(self.up(DEFINITION, "--local", 2, *flags,
                                        **more))
                self.check_nothing_left()
        key.unlink()

    def test_a_key_of_its_own_or_none(self):
        for flags in ([], ["--insecure"]):
            with self.subTest(flags=flags):
                config = self.top / f"config{len(flags)}"
                config.mkdir()
                self.summary_of(self.up(DEFINITION, "--local", 2, *flags,
                                        XDG_CONFIG_HOME=str(config)))
                # The user's own was not needed, so it was not made.
                self.assertEqual(list(config.iterdir()), [])
                self.check_nothing_left()

    def test_a_user_stops_it(self):
        process = self.up(ENDLESS, "--local", 2)
        self.await_metrics()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 130, err)
        summary = json.loads(out)
        self.assertTrue(summary["cancelled"])
        self.assertTrue(
            (pathlib.Path(summary["run"]) / "weights.safetensors").exists())
        self.check_nothing_left()

    def test_nothing_outlives_its_death(self):
        process = self.up(ENDLESS, "--local", 3)
        self.await_metrics()
        self.assertEqual(len(self.ours()), 4)
        process.kill()
        process.communicate(timeout=PATIENCE_SECONDS)
        self.check_nothing_left()

    def kill(self, name):
        """Kills a daemon; returns its number."""
        victim, = (number for number, words in self.ours().items()
                   if "node" in words and name in words)
        os.kill(victim, signal.SIGKILL)
        return victim

    def test_a_daemon_that_is_killed_is_named(self):
        process = self.up(ENDLESS, "--local", 2)
        self.await_metrics()
        self.kill("daemon-1")
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("daemon-1", err)
        # How to go on, though the run was not to do so by itself.
        self.assertRegex(err, "goes on from its last checkpoint|"
                              "it has left no checkpoint")
        self.check_nothing_left()

    def lines_of_metrics(self):
        return sum(len(file.read_text().splitlines())
                   for file in self.runs.glob("*/metrics.jsonl"))

    def attempts_in(self, log):
        return 1 + log.read_text().count(" goes on from ")

    def await_attempt(self, process, number):
        """Waits until the run is trained in that attempt, or there is none."""
        log, = self.runs.glob("*/log.txt")
        self.await_while_up(
            process, lambda: self.attempts_in(log) >= number)
        before = self.lines_of_metrics()
        self.await_while_up(process, lambda: self.lines_of_metrics() > before)

    def await_while_up(self, process, holds):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while process.poll() is None and not holds():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def test_a_coordinator_that_is_killed_is_started_again(self):
        process = self.up(ENDLESS, "--local", 2)
        self.await_metrics()
        dead = self.kill("daemon-0")
        self.await_attempt(process, 2)
        self.assertIsNone(process.poll())
        self.assertNotIn(dead, self.ours())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 130, err)
        self.assertTrue(json.loads(out)["cancelled"])
        self.check_nothing_left()

    def check_that_it_is_named_when_it_dies_again_and_again(self, name):
        process = self.up(merged(ENDLESS, {"recovery": {"wait": 300}}),
                          "--local", 2)
        self.await_metrics()
        # More often than need be, in case that the machine is slow.
        for attempt in range(2, 20):
            self.kill(name)
            self.await_attempt(process, attempt)
            if process.poll() is not None:
                break
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(f"{name} was ended by signal 9", err)
        self.assertIn("has died for the 4th time within 60 s", err)
        log, = self.runs.glob("*/log.txt")
        self.assertIn(f"`graphmill resume {log.parent}` continues it", err)
        self.assertGreaterEqual(self.attempts_in(log), 4)
        self.check_nothing_left()

    def test_a_coordinator_that_dies_again_and_again_is_named(self):
        self.check_that_it_is_named_when_it_dies_again_and_again("daemon-0")

    def test_a_daemon_that_dies_again_and_again_is_named(self):
        self.check_that_it_is_named_when_it_dies_again_and_again("daemon-1")

    def test_a_daemon_that_is_killed_is_started_again(self):
        self.check_that_the_run_goes_on_without(["daemon-1"])

    def test_all_daemons_that_are_killed_are_started_again(self):
        self.check_that_the_run_goes_on_without(["daemon-1", "daemon-0"])

    def check_that_the_run_goes_on_without(self, names):
        """Kills daemons; compares the digest with that of a run in peace."""
        definition = merged(DEFINITION, {"train": {"epochs": 150},
                                         "evaluate": {"every": 50},
                                         "trainer": {"replicas": 2}})
        process = self.up(merged(definition,
                                 {"faults": {"trainer_delay_ms": 15}}),
                          "--local", 2)
        self.await_metrics()
        for name in names:
            self.kill(name)
        summary = self.summary_of(process)
        self.assertEqual(summary["digest"],
                         self.train(definition, self.data)["digest"])
        log = pathlib.Path(summary["run"]) / "log.txt"
        self.assertGreaterEqual(self.attempts_in(log), 2)
        self.check_nothing_left()


class Remote(Launch):
    def setUp(self):
        super().setUp()
        self.home = self.top / f"home-{self.own_name}"
        self.home.mkdir()
        stub = self.home / "bin" / "ssh"
        stub.parent.mkdir()
        stub.write_text(STUB_SSH)
        stub.chmod(0o755)
        self.log = self.home / "log"
        self.stub = {"PATH": f"{stub.parent}:{os.environ['PATH']}",
                     "STUB_HOME": str(self.home), "STUB_LOG": str(self.log)}

    def hosts(self, *lines):
        path = self.home / "hosts"
        path.write_text("".join(f"{line}\n" for line in lines))
        return path

    def test_daemons_on_hosts(self):
        alone = self.train(DEFINITION, self.data)
        hosts = self.hosts(
            f"me@127.0.0.1 serve=0,2 port={free_port()}",
            f"alias address=127.0.0.1 serve=1 port={free_port()}")
        summary = self.summary_of(self.up(
            DEFINITION, "--hosts", hosts, "--program", program(), **self.stub))
        self.assertEqual(summary["digest"], alone["digest"])
        called = self.log.read_text()
        self.assertIn("BatchMode=yes", called)
        self.assertIn(" -- me@127.0.0.1 exec ", called)
        self.assertIn(" -- alias exec ", called)
        self.check_nothing_left()

    def test_a_dataset_that_is_called_otherwise_than_its_folder(self):
        self.assertNotEqual(self.data.name, runs.name_of(self.data))
        path = self.write({**DEFINITION, "dataset": str(self.data),
                           "train": {"epochs": 1}}, self.data)
        summary = self.summary_of(self.start(
            "up", path, "--hosts", self.hosts(f"127.0.0.1 port={free_port()}"),
            "--program", program(), "--runs", self.runs, "--json", "--quiet",
            **self.stub))
        self.assertEqual(summary["epochs"], 1)

    def test_a_host_where_it_fails(self):
        hosts = self.hosts(
            f"127.0.0.1 port={free_port()}",
            f"other address=127.0.0.1 port={free_port()} data=/nowhere")
        process = self.up(DEFINITION, "--hosts", hosts, "--program", program(),
                          **self.stub)
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 1)
        self.assertIn("daemon-1 on other ended with code 1", err)
        self.assertIn("/nowhere", err)
        self.check_nothing_left()


class Launcher(Launch):
    """Daemons that learn their place from the environment."""

    def check_cluster(self, environment_of):
        port = free_port()
        daemons = [
            self.start("node", "--data", self.data, "--runs", self.runs,
                       MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port),
                       **environment_of(rank)) for rank in range(3)]
        cluster = ["--cluster", f"tcp://127.0.0.1:{port}"]
        deadline = time.monotonic() + PATIENCE_SECONDS
        names = {}
        while len(names) < 3:
            self.assertLess(time.monotonic(), deadline)
            asked = self.start("status", *cluster, "--json")
            out, _ = asked.communicate(timeout=PATIENCE_SECONDS)
            if asked.returncode == 0:
                names = {one["name"]: one["parts"]
                         for one in json.loads(out)["daemons"]}
        self.assertEqual(names, {f"daemon-{i}": [i] for i in range(3)})
        self.assertIn("digest", self.summary_of(self.start(
            "submit", self.write(DEFINITION, self.data), *cluster, "--watch",
            "--json", "--quiet")))
        stopped = self.start("stop", "--all", *cluster)
        _, err = stopped.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(stopped.returncode, 0, err)
        for daemon in daemons:
            _, err = daemon.communicate(timeout=PATIENCE_SECONDS)
            self.assertEqual(daemon.returncode, 0, err)
        self.check_nothing_left()

    def test_torchrun(self):
        self.check_cluster(lambda rank: {"RANK": str(rank), "WORLD_SIZE": "3"})

    def test_slurm(self):
        self.check_cluster(lambda rank: {
            "SLURM_PROCID": str(rank), "SLURM_NTASKS": "3",
            "SLURM_JOB_NODELIST": "n[1-3]"})

    def test_nobody_to_join(self):
        """Whoever has mistyped an address is told so."""
        process = self.start("node", "--data", self.data, "--listen",
                             "tcp://127.0.0.1:0", "--insecure",
                             "--join", "tcp://127.0.0.1:1")
        said = ""
        # It ends after two minutes.
        while "does not answer" not in said and process.poll() is None:
            said = process.stderr.readline()
        self.assertIn("the coordinator at tcp://127.0.0.1:1 does not answer: ",
                      said)
        self.assertIn("; trying again for ", said)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE_SECONDS)
        self.check_nothing_left()

    def test_no_sense(self):
        process = self.start("node", "--data", self.data, RANK="3",
                             WORLD_SIZE="3", MASTER_ADDR="127.0.0.1")
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
        self.assertEqual(process.returncode, 1)
        self.assertIn("RANK is `3`", err)


if __name__ == "__main__":
    program()
    unittest.main()
