"""Clusters of daemons train as one process does."""

import json
import pathlib
import re
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from clusters import PATIENCE_SECONDS, Cluster, Daemon
from runs import SMALL as DEFINITION, merged, partitioned, small_rmat
from slow_links import Link
from support import graphmill, program

# A run that loses a daemon is not attempted again.
AT_ONCE = {"recovery": {"wait": 0}}


class ClusterTest(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "rmat")
        cls.parts = {count: partitioned(cls.data, count, "random")
                     for count in (2, 4, 8)}

    def cluster(self, data, shares, *more):
        made = Cluster(self.top / self.own_name, data, shares, *more)
        self.addCleanup(made.__exit__)
        return made


class Exactness(ClusterTest):
    def check(self, parts, shares, trainers):
        definition = merged(DEFINITION, {"trainer": {"replicas": trainers}})
        alone = self.train(definition, self.parts[parts])
        file = self.write(definition, self.parts[parts])
        cluster = self.cluster(self.parts[parts], shares)
        summary = cluster.run(file)
        self.assertEqual(summary["digest"], alone["digest"], cluster.logs())
        self.assertEqual(summary["test_accuracy"], alone["test_accuracy"])
        self.assertEqual(summary["steps"], alone["steps"])
        self.assertEqual(summary.keys(), alone.keys())
        log = (pathlib.Path(summary["run"]) / "log.txt").read_text()
        self.assertEqual(log.count("train epoch"), summary["epochs"], log)
        return cluster, summary

    def test_one_daemon(self):
        self.check(2, ["0-1"], 1)

    def test_two_daemons(self):
        self.check(2, ["0", "1"], 1)

    def test_a_definition_with_the_path_of_the_dataset(self):
        """Which is called something else than its folder."""
        data = self.parts[2]
        self.assertNotEqual(data.name, runs.name_of(data))
        cluster = self.cluster(data, ["0-1"])
        file = self.write({**DEFINITION, "dataset": str(data),
                           "train": {"epochs": 1}}, data)
        self.assertEqual(cluster.run(file)["epochs"], 1)
        cluster.ask("submit", file, "--grid", "seed=3", "--quiet")

    def test_two_trainers(self):
        self.check(2, ["0", "1"], 2)

    def test_four_daemons_three_trainers(self):
        self.check(4, ["0", "1", "2", "3"], 3)

    def test_uneven(self):
        self.check(8, ["0,2-5", "1", "6-7"], 4)

    def test_runs_one_after_another(self):
        cluster, summary = self.check(2, ["0", "1"], 2)
        file = self.write(merged(DEFINITION, {"trainer": {"replicas": 2}}),
                          self.parts[2])
        again = cluster.run(file)
        self.assertEqual(again["digest"], summary["digest"])
        self.assertNotEqual(again["run"], summary["run"])
        listed = cluster.ask("runs")["runs"]
        self.assertEqual(len(listed), 2)


class Placement(ClusterTest):
    """A definition says who trains and who samples; results are the same."""

    def placed(self, trainers, samplers, *more):
        return merged(DEFINITION, {"trainer": {"replicas": len(trainers)},
                                   "placement": {"trainers": trainers,
                                                 "samplers": samplers}},
                      *more)

    def check(self, parts, shares, definition):
        """A cluster's digest is that of one process, which takes no notice
        of the placement; returns stages by daemon."""
        alone = self.train(definition, self.parts[parts])
        cluster = self.cluster(self.parts[parts], shares)
        summary = cluster.run(self.write(definition, self.parts[parts]))
        self.assertEqual(summary["digest"], alone["digest"], cluster.logs())
        return {name: {stage["stage"]: stage for stage in share["stages"]}
                for name, share in summary["daemons"].items()}

    def test_sampler_without_trainer(self):
        done = self.check(2, ["0", "1", "none"], self.placed(["d0"], ["d2"]))
        # 4 steps of training, 2 epochs; as many evaluations as need be.
        sampled = done["d2"]["sampler"]
        self.assertGreater(sampled["items"], 8)
        self.assertGreater(sampled["busy_seconds"], 0)
        self.assertEqual(done["d0"]["sampler"]["items"], 0)
        self.assertEqual(done["d0"]["sampler proxy"]["items"],
                         sampled["items"])
        wire = done["d0"]["wire: sampled batches"]
        self.assertEqual(wire["items"], sampled["items"])
        self.assertGreater(wire["bytes"], 0)
        self.assertEqual(done["d0"]["wire: sampled neighbours"]["items"], 0)
        self.assertEqual(done["d2"]["trainer"]["replicas"], 0)

    def test_samplers_take_turns(self):
        faults = {"faults": {"crash_every": 7, "reply_delay_ms": 3},
                  "sampler": {"replicas": 2}}
        done = self.check(2, ["0", "1", "none", "none"],
                          self.placed(["d1", "d0"], ["d3", "d2"], faults))
        self.assertGreater(done["d2"]["sampler"]["items"], 4)
        self.assertGreater(done["d3"]["sampler"]["items"], 4)

    def test_trainer_samples_for_another(self):
        done = self.check(2, ["0", "1"], self.placed(["d0", "d1"], ["d0"]))
        self.assertEqual(done["d1"]["sampler"]["items"], 0)
        self.assertEqual(done["d0"]["wire: sampled batches"]["items"], 0)
        self.assertGreater(done["d1"]["wire: sampled batches"]["items"], 0)

    def test_shown_and_refused(self):
        cluster = self.cluster(self.parts[2], ["0", "1", "none"],
                               "--slots", "1")
        good = self.write(self.placed(["d1"], ["d2"]), self.parts[2])
        plan = {one["name"]: one
                for one in cluster.ask("plan", good)["daemons"]}
        self.assertEqual(plan["d1"]["ranks"], [0])
        self.assertEqual([n for n in plan if plan[n]["samples"]], ["d2"])
        self.assertEqual(plan["d2"]["parts"], [])
        for field in ("trainers", "samplers"):
            for command in ("plan", "submit"):
                said = cluster.refused(command, good, "--set",
                                       f"placement.{field}=[d1, d7]")
                self.assertIn(f'`placement.{field}` names daemon "d7"', said)
                self.assertIn("d0, d1, d2", said)
        said = cluster.refused("submit", good, "--set", "trainer.replicas=2")
        self.assertIn("`placement.trainers`, d1, take 1", said)
        said = cluster.refused("submit", good, "--set", "trainer.device=cuda",
                               "--set", "placement.trainers=[]")
        self.assertIn("trainer on cuda, but the cluster takes 0", said)
        self.assertGreater(cluster.run(good)["steps"], 0)


class Failures(ClusterTest):
    """Each is told in a sentence, and the daemons serve the next run."""

    def setUp(self):
        self.small = self.write(DEFINITION, self.parts[2])
        self.long = self.write(
            merged(DEFINITION, {"train": {"epochs": 100000}}, AT_ONCE),
            self.parts[2], "-long")

    def begin_long(self, cluster, trainers=2):
        """Submits a run that does not end; returns its id once it is on."""
        run = cluster.ask("submit", self.long, "--set",
                          f"trainer.replicas={trainers}")["run"]

        def steps():
            metrics = cluster.folder / "runs" / run / "metrics.jsonl"
            return metrics.exists() and metrics.read_text().count("\n") > 1
        cluster.wait_until(steps, "end of a phase")
        return run

    def check_serves(self, cluster):
        self.assertGreater(cluster.run(self.small)["steps"], 0)

    def check_breaks(self, trainers, trouble):
        """Something happens to a daemon of a run; with one trainer it serves
        data alone."""
        cluster = self.cluster(self.parts[2], ["0", "1"])
        run = self.begin_long(cluster, trainers)
        trouble(cluster)
        record = cluster.await_state(run, "failed")
        self.assertIn("d1", record["message"])
        return cluster

    def kill(self, cluster):
        cluster.daemons[1].kill()

    def back_at_once(self, cluster):
        address = cluster.daemons[1].address()
        cluster.daemons[1].kill()
        cluster.add("1", name="d1", listen=address)

    def test_daemon_killed(self):
        cluster = self.check_breaks(2, self.kill)
        self.assertIn("no daemon serves part 1",
                      cluster.refused("submit", self.small))
        cluster.add("1", name="d1")
        cluster.await_daemons(2)
        self.check_serves(cluster)

    def test_data_daemon_killed(self):
        self.check_breaks(1, self.kill)

    def test_killed_before_it_is_missed(self):
        """A run is deployed on a daemon that is gone; or refused, if the
        coordinator is quicker."""
        cluster = self.cluster(self.parts[2], ["0", "1"])
        cluster.daemons[1].kill()
        done = cluster.call("submit", self.small, "--set", "recovery.wait=0")
        if done.returncode == 0:
            run = json.loads(done.stdout.splitlines()[-1])["run"]
            self.assertIn("d1", cluster.await_state(run, "failed")["message"])
        else:
            self.assertIn("no daemon serves part 1", done.stderr)
        cluster.add("1", name="d1")
        cluster.await_daemons(2)
        self.check_serves(cluster)

    def test_first_trainer_killed(self):
        """The weights are those of the rank that lives."""
        self.long = self.write(
            merged(DEFINITION, {"train": {"epochs": 100000},
                                "placement": {"trainers": ["d1", "d0"]}},
                   AT_ONCE),
            self.parts[2], "-turned")
        cluster = self.check_breaks(2, self.kill)
        run = cluster.ask("runs")["runs"][0]["run"]
        folder = cluster.folder / "runs" / run
        self.assertTrue((folder / "weights.safetensors").exists())
        cluster.add("1", name="d1")
        cluster.await_daemons(2)
        self.check_serves(cluster)

    def test_sampler_killed(self):
        cluster = self.cluster(self.parts[2], ["0", "1", "none"])
        self.long = self.write(
            merged(DEFINITION, {"train": {"epochs": 100000},
                                "placement": {"samplers": ["d2"]}},
                   AT_ONCE),
            self.parts[2], "-sampled")
        run = self.begin_long(cluster, 1)
        cluster.daemons[2].kill()
        record = cluster.await_state(run, "failed")
        self.assertIn("d2", record["message"])
        self.assertIn('"d2", which is not in service',
                      cluster.refused("submit", self.long))
        self.check_serves(cluster)
        cluster.add("none", name="d2")
        cluster.await_daemons(3)
        self.begin_long(cluster, 1)

    def test_daemon_leaves(self):
        self.check_breaks(1, lambda cluster: cluster.daemons[1].stop())

    def test_daemon_back_at_once(self):
        cluster = self.check_breaks(1, self.back_at_once)
        cluster.await_daemons(2)
        self.check_serves(cluster)

    def test_trainer_back_at_once(self):
        cluster = self.check_breaks(2, self.back_at_once)
        cluster.await_daemons(2)
        self.check_serves(cluster)

    def test_daemon_killed_and_back_while_idle(self):
        cluster = self.cluster(self.parts[2], ["0", "1"])
        cluster.daemons[1].kill()
        # At once: before anybody has missed it.
        cluster.add("1", name="d1")
        cluster.wait_until(
            lambda: len(re.findall("daemon d1 at .* has joined with",
                                   cluster.daemons[0].log.read_text())) >= 2,
            "d1 in the cluster again")
        self.check_serves(cluster)

    def test_cancelled(self):
        cluster = self.cluster(self.parts[2], ["0", "1"])
        run = self.begin_long(cluster)
        queued = cluster.ask("submit", self.small)["run"]
        cluster.ask("cancel", queued)
        cluster.ask("cancel", run)
        cluster.await_state(run, "cancelled")
        cluster.await_state(queued, "cancelled")
        folder = cluster.folder / "runs" / run
        self.assertTrue((folder / "weights.safetensors").exists())
        self.check_serves(cluster)

    def test_same_name(self):
        cluster = self.cluster(self.parts[2], ["0", "1"])
        third = cluster.add("1", name="d1")
        self.assertNotEqual(third.process.wait(PATIENCE_SECONDS), 0)
        self.assertIn('has the name "d1"', third.log.read_text())
        self.check_serves(cluster)

    def test_no_key(self):
        """The key comes first, whatever else is wrong."""
        cluster = self.cluster(self.parts[2], ["0-1"])
        homeless = Daemon(cluster.folder, "homeless", self.parts[2], "0",
                          within=["env", "-u", "HOME", "-u",
                                  "XDG_CONFIG_HOME"])
        self.addCleanup(homeless.end)
        self.assertNotEqual(homeless.process.wait(PATIENCE_SECONDS), 0)
        self.assertIn("set HOME", homeless.log.read_text())
        # With it, another coordinator must not write to the same folder.
        rival = Daemon(cluster.folder, "rival", self.parts[2], "0")
        self.addCleanup(rival.end)
        self.assertNotEqual(rival.process.wait(PATIENCE_SECONDS), 0)
        self.assertIn("runs", rival.log.read_text())

    def test_other_dataset(self):
        # A dataset is called like its folder: it has another digest alone.
        other = self.top / "other" / "rmat"
        if not other.exists():
            other.parent.mkdir()
            small_rmat(other, seed=4)
        parts = partitioned(other, 2, "random")
        cluster = self.cluster(self.parts[2], ["0-1"])
        alien = cluster.add("1", name="alien", data=parts)
        self.assertNotEqual(alien.process.wait(PATIENCE_SECONDS), 0)
        self.assertIn("copy one partitioned dataset", alien.log.read_text())
        self.check_serves(cluster)

    def test_other_version(self):
        """A daemon and a client whose handshakes name version 6."""
        def aged(said):
            # An envelope: the pointer to it, which gives its size, then
            # version (2), kind (request), method (hello) and attempt, each 1.
            return re.sub(
                rb"(\x00{4}[\x01-\x0f]\x00[\x01-\x0f]\x00)\x05\x00"
                rb"((?:\x01\x00){3})",
                lambda found: found[1] + b"\6\0" + found[2], said)

        cluster = self.cluster(self.parts[2], ["0-1"], "--insecure")
        link = Link(change=aged)  # Which reads what is said.
        self.addCleanup(link.close)
        link.target = int(cluster.coordinator.rsplit(":", 1)[1])
        address = f"tcp://127.0.0.1:{link.port}"
        done = graphmill("submit", self.small, "--cluster", address,
                         "--insecure")
        self.assertEqual(done.returncode, 1)
        self.assertIn("same version of graphmill", done.stderr)
        alien = Daemon(cluster.folder, "alien", self.parts[2], "1",
                       "--insecure", join=address)
        self.addCleanup(alien.end)
        self.assertNotEqual(alien.process.wait(PATIENCE_SECONDS), 0)
        self.assertIn("same version of graphmill", alien.log.read_text())
        self.check_serves(cluster)

    def test_too_many_trainers(self):
        cluster = self.cluster(self.parts[2], ["0", "1"], "--slots", "2")
        file = self.write(merged(DEFINITION, {"trainer": {"replicas": 5}}),
                          self.parts[2], "-many")
        self.assertIn("asks for 5 trainers", cluster.refused("submit", file))
        self.check_serves(cluster)

    def test_nobody_there(self):
        done = graphmill("submit", self.small, "--cluster",
                         "tcp://127.0.0.1:9")
        self.assertEqual(done.returncode, 1)
        self.assertIn("tcp://127.0.0.1:9", done.stderr)

    def test_stopped(self):
        cluster = self.cluster(self.parts[2], ["0", "1"])
        cluster.ask("stop", "--all")
        for daemon in cluster.daemons:
            self.assertEqual(daemon.process.wait(PATIENCE_SECONDS), 0)


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
