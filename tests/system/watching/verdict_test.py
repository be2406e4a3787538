"""The verdict on a run of which one part is slowed down for real, each stage
and each link in turn: it must name that part and nothing else. And all who tell
of such a run must tell the same."""

import json
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import Cluster
from over_http import get, told_at
from runs import SMALL, merged, partitioned, small_rmat
from slow_links import LinkedCluster
from support import program
from told_states import states, states_in_lines, states_in_metrics

# An epoch has some 70 batches, each of which takes some milliseconds. The run
# is cancelled once its verdict was seen.
ENDLESS = merged(SMALL, {
    "train": {"epochs": 100000, "batch_size": 6},
    "evaluate": {"every": 1000},
    "checkpoint": {"keep": 0},
    "placement": {"trainers": ["d0"]},
})
TWO_TRAINERS = {"trainer": {"replicas": 2},
                "placement": {"trainers": ["d0", "d1"]}}
SAMPLED_BY_D1 = {"placement": {"samplers": ["d1"]}}

# So many reports one after the other must blame the same. They come within some
# seconds; a machine that has much else to do gets more.
REPORTS = 2
PATIENCE_SECONDS = 100


def slow(daemon, **delays):
    """Delays in milliseconds, at one daemon or at all."""
    faults = {f"{what}_delay_ms": delay for what, delay in delays.items()}
    return {"faults": {**faults, "daemons": [daemon] if daemon else []}}


# What is slowed, how, and whom the verdict must name. Delays are large against
# what a batch takes on a machine that has much else to do.
STAGES = [
    ("nothing, but there is much to compute",
     {"model": {"hidden": 1500}, "sampler": {"fanouts": [4, 3, 3]},
      "train": {"batch_size": 24}}, "trainer"),
    ("sampler", slow("d0", sampler=200), 'sampler at daemon "d0"'),
    ("sampler elsewhere",
     merged(SAMPLED_BY_D1, slow("d1", sampler=200)), 'sampler at daemon "d1"'),
    ("sampling service", slow("d0", sampling_service=200),
     'sampling service of part 0 at daemon "d0"'),
    ("sampling service elsewhere", slow("d1", sampling_service=200),
     'sampling service of part 1 at daemon "d1"'),
    ("replies", {"faults": {"reply_delay_ms": 400, "daemons": ["d1"]}},
     'sampling service of part 1 at daemon "d1"'),
    ("feature service", slow("d0", feature_service=200),
     'feature service of part 0 at daemon "d0"'),
    ("feature service elsewhere", slow("d1", feature_service=200),
     'feature service of part 1 at daemon "d1"'),
    ("fetcher", slow("d0", fetcher=200), 'fetcher at daemon "d0"'),
    ("batcher", slow("d0", batcher=200), 'batcher at daemon "d0"'),
    ("trainer", slow(None, trainer=300), "trainer"),
    ("one trainer of two", merged(TWO_TRAINERS, slow("d1", trainer=300)),
     'trainer of rank 1 at daemon "d1"'),
    ("exchange of gradients", merged(TWO_TRAINERS, slow(None, exchange=300)),
     "gradient group"),
    ("credit",
     merged({"budget": {"batches": 1}},
            slow("d0", sampler=40, fetcher=80, batcher=80, trainer=100)),
     'credit at daemon "d0"'),
]
# What of the run crosses the link to d1, and how slow that is: latency in
# seconds, or bytes per second.
LINKS = [
    ("neighbours and rows", {}, {"latency": 0.1}),
    ("a thin one", {}, {"rate": 50_000}),
    ("sampled batches", SAMPLED_BY_D1, {"latency": 0.1}),
    ("gradients, too", TWO_TRAINERS, {"latency": 0.1}),
]


class Verdict(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.parts = partitioned(
            small_rmat(cls.top / "rmat", scale=12, edges=24000, features=128),
            3, "random")

    def cluster(self, kind=Cluster):
        made = kind(self.top / self.own_name, self.parts,
                    ["0", "1", "2"], "--http", "127.0.0.1:0")
        self.addCleanup(made.__exit__)
        return made

    def health(self, cluster, run):
        """What is known; nothing as long as nothing is."""
        done = cluster.call("status", run)
        told = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}
        return {"daemons": [], "verdict": {"limit": "", "sentence": ""},
                **told}

    def end(self, cluster, run):
        cluster.ask("cancel", run)
        cluster.wait_until(
            lambda: cluster.ask("runs", run)["runs"][0]["state"]
            == "cancelled", "run that is cancelled")

    def await_verdict(self, cluster, run, limit):
        """Waits until reports of d0, one after the other, blame the same."""
        seen = []  # Windows of reports, and what was said of them.
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            now = self.health(cluster, run)
            for daemon in now["daemons"]:
                if daemon["daemon"] == "d0" and (
                        not seen or seen[-1][0] != daemon["window"]):
                    seen.append((daemon["window"], now["verdict"]))
            last = [said for _, said in seen[-REPORTS:]]
            if [said["limit"] for said in last] == [limit] * REPORTS:
                return last[-1]
            time.sleep(0.1)
        self.fail(f"{limit} is not named, but:\n" + "\n".join(
            f"{one['limit']}: {one['sentence']}" for _, one in seen[-10:])
            + f"\n{json.dumps(now)}\n{cluster.logs()}")

    def check(self, cluster, what, change, limit):
        run = cluster.ask("submit", self.write(merged(ENDLESS, change),
                                               self.parts))["run"]
        try:
            said = self.await_verdict(cluster, run, limit)
            print(f"  {what}: {said['sentence']}")
        finally:
            self.end(cluster, run)

    def test_each_stage_is_named(self):
        cluster = self.cluster()
        for what, change, limit in STAGES:
            with self.subTest(slowed=what):
                self.check(cluster, what, change, limit)

    def test_each_link_is_named(self):
        cluster = self.cluster(LinkedCluster)
        for what, change, slower in LINKS:
            with self.subTest(link=what):
                cluster.link.latency = slower.get("latency", 0)
                cluster.link.rate = slower.get("rate", 0)
                self.check(cluster, what, change,
                           'link of daemon "d0" to daemon "d1"')

    def test_all_tell_the_same(self):
        cluster = self.cluster()
        at = told_at(cluster.daemons[0], "the cluster")
        # So long that hardly anybody's state changes between two reports.
        late = slow("d1", sampling_service=500)
        who = "d1", "sampling service 1"
        run = cluster.ask("submit", self.write(merged(ENDLESS, late),
                                               self.parts))["run"]
        limit = 'sampling service of part 1 at daemon "d1"'
        printed = self.top / "top.txt"
        with printed.open("w") as out:
            top = subprocess.Popen([program(), "top", run, "--cluster",
                                    cluster.coordinator],
                                   stdout=out, stderr=out)
        self.addCleanup(top.wait)
        self.addCleanup(top.kill)
        self.await_verdict(cluster, run, limit)

        def all_agree():
            metrics, busy = states_in_metrics(get(at, "/metrics")[1])
            lines, verdict = states_in_lines(printed.read_text())
            code, page = get(at, f"/api/runs/{run}")
            status = self.health(cluster, run)
            self.assertEqual(code, 200)
            page = json.loads(page)
            told[:] = [states(status), states(page), metrics, lines,
                       status["verdict"], page["verdict"], verdict, busy]
            return (told[0].get(who) == "running"
                    and all(one == told[0] for one in told[:4])
                    and status["verdict"]["limit"] == limit
                    and page["verdict"]["limit"] == limit
                    and limit in verdict)
        told = []
        try:
            cluster.wait_until(all_agree, "agreement")
        except AssertionError:
            self.fail("they do not agree:\n" + "\n".join(map(str, told)))
        self.assertEqual({daemon for daemon, _ in told[0]}, {"d0", "d1", "d2"})
        busy = told[-1]
        self.assertEqual({one for one in busy if busy[one] > 0.5}, {who})
        self.end(cluster, run)
        self.assertEqual(top.wait(PATIENCE_SECONDS), 0, printed.read_text())


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
