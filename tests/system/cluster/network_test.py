"""A cluster of machines with addresses of their own: network namespaces."""

import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from runs import SMALL, merged, partitioned, small_rmat
from support import SKIPPED, graphmill, program

DEFINITION = merged(SMALL, {"trainer": {"replicas": 2}})
ADDRESSES = ["10.203.0.1", "10.203.0.2"]


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Network:
    """Two machines and a cable between them."""

    def __init__(self):
        self.names = [f"graphmill-{os.getpid()}-{i}" for i in (0, 1)]
        self.made = []

    def build(self):
        for name in self.names:
            ip("netns", "add", name)
            self.made.append(name)
        ip("link", "add", "cable0", "netns", self.names[0], "type", "veth",
           "peer", "name", "cable1", "netns", self.names[1])
        for i, name in enumerate(self.names):
            ip("-n", name, "addr", "add", f"{ADDRESSES[i]}/24", "dev",
               f"cable{i}")
            ip("-n", name, "link", "set", f"cable{i}", "up")
            ip("-n", name, "link", "set", "lo", "up")

    def remove(self):
        for name in self.made:
            subprocess.run(["ip", "netns", "del", name], check=False)

    def on(self, machine):
        """The command that starts another one on a machine."""
        return ["ip", "netns", "exec", self.names[machine]]

    def cut(self):
        ip("-n", self.names[1], "link", "set", "cable1", "down")

    def mend(self):
        ip("-n", self.names[1], "link", "set", "cable1", "up")


class TwoMachines(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = partitioned(small_rmat(cls.top / "rmat"), 2, "random")
        cls.key = cls.top / "key"
        assert graphmill("keygen", cls.key).returncode == 0

    def setUp(self):
        self.network = Network()
        self.addCleanup(self.network.remove)
        self.network.build()

    def cluster(self):
        """A daemon on each machine. The first is told its interface, the
        second takes the one on the way to the first."""
        made = Cluster(self.top / self.own_name, self.data, [],
                       "--key", self.key)
        self.addCleanup(made.__exit__)
        made.within = ["env", f"GRAPHMILL_KEY={self.key}",
                       *self.network.on(0)]
        made.add("0", "--interface", "cable0", "--lost-after", 5,
                 listen="tcp://*:0", within=self.network.on(0))
        made.add("1", "--lost-after", 5, listen="tcp://*:0",
                 within=self.network.on(1))
        made.await_daemons(2)
        return made

    def test_trains(self):
        alone = self.train(DEFINITION, self.data)
        cluster = self.cluster()
        addresses = [d["address"] for d in cluster.status()["daemons"]]
        for address, expected in zip(sorted(addresses), ADDRESSES):
            self.assertTrue(address.startswith(f"tcp://{expected}:"), address)
        summary = cluster.run(self.write(DEFINITION, self.data))
        self.assertEqual(summary["digest"], alone["digest"])

    def test_no_key(self):
        cluster = self.cluster()
        coordinator = cluster.coordinator
        for command in (["status"], ["stop", "--all"]):
            done = graphmill(*command, "--cluster", coordinator,
                             within=self.network.on(1))
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("key", done.stderr)
        self.assertEqual(len(cluster.states()), 2)

    def test_cable_pulled_in_a_run(self):
        cluster = self.cluster()
        endless = merged(DEFINITION, {"train": {"epochs": 100000},
                                      "recovery": {"wait": 0}})
        run = cluster.ask("submit", self.write(endless, self.data))["run"]
        metrics = cluster.folder / "runs" / run / "metrics.jsonl"
        cluster.wait_until(
            lambda: metrics.exists() and metrics.read_text().count("\n") > 1,
            "end of a phase")
        self.network.cut()
        self.assertIn("d1", cluster.await_state(run, "failed")["message"])
        # It is the same daemon, which comes back by itself.
        self.network.mend()
        cluster.await_daemons(2)
        small = self.write(DEFINITION, self.data, "-small")
        self.assertGreater(cluster.run(small)["steps"], 0)
        for daemon in cluster.daemons:
            self.assertEqual(daemon.stop(), 0, cluster.logs())


def skip_unless_possible():
    probe = Network()
    try:
        probe.build()
    except (OSError, subprocess.CalledProcessError) as failure:
        print(f"skipped: no network namespaces here ({failure}); they need "
              "root and iproute2")
        sys.exit(SKIPPED)
    finally:
        probe.remove()


if __name__ == "__main__":
    program()
    skip_unless_possible()
    unittest.main(verbosity=2)
