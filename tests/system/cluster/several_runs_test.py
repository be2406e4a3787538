"""Several runs at once (`--runs-at-once`), on daemons of their own and on shared
ones: each is what it is alone, whatever becomes of the others."""

import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from runs import SMALL, merged
from several_runs import SLOW, SeveralRuns
from support import program


class RunsAtOnce(SeveralRuns):
    # -- sweeps

    def sweep(self, cluster, definition):
        """A grid of four. @return digests by settings, and records."""
        done = cluster.call("submit", self.write(definition, self.parts),
                            "--quiet", "--grid", "model.hidden=8,16",
                            "--grid", "optimizer.learning_rate=0.01,0.1")
        self.assertEqual(done.returncode, 0, done.stderr + cluster.logs())
        rows = json.loads(done.stdout.splitlines()[-1])["sweep"]
        self.assertEqual(len(rows), 4)
        table = {}
        records = []
        for row in rows:
            run, = row["runs"]
            settings = json.dumps(row["settings"], sort_keys=True)
            table[settings] = (self.summary(cluster, run["run"])["digest"],
                               run["validation_accuracy"],
                               run["test_accuracy"])
            records.append(cluster.record(run["run"]))
        return table, records

    @staticmethod
    def most_at_once(records):
        """By when the runs have begun and ended."""
        moments = sorted([(one["started"], 1) for one in records]
                         + [(one["ended"], -1) for one in records])
        most = now = 0
        for _, change in moments:
            now += change
            most = max(most, now)
        return most

    def test_a_sweep_is_the_same(self):
        definition = merged(SMALL, SLOW, {"train": {"epochs": 4}})
        one, records = self.sweep(self.cluster(1, [2, 1], "-one"), definition)
        self.assertEqual(self.most_at_once(records), 1)
        two, records = self.sweep(self.cluster(2, [2, 1], "-two"), definition)
        self.assertEqual(self.most_at_once(records), 2)
        self.assertEqual(two, one)
        self.assertEqual(len({digest for digest, *_ in one.values()}), 4)

    def test_a_sweep_of_runs_with_all_daemons(self):
        """Each has a trainer on each of two daemons, which they share."""
        definition = merged(SMALL, SLOW, {"train": {"epochs": 4},
                                          "trainer": {"replicas": 2}})
        one, _ = self.sweep(self.cluster(1, [1, 1], "-one"), definition)
        two, records = self.sweep(self.cluster(3, [2, 2], "-two"), definition)
        self.assertEqual(self.most_at_once(records), 2)  # Of four slots.
        self.assertEqual(two, one)

    # -- who goes where

    def test_daemons_of_their_own(self):
        cluster = self.cluster(2, [1, 1])
        definitions = [
            merged(self.on(seed, daemon), {"train": {"epochs": epochs}})
            for seed, daemon, epochs in ((1, "d1", 9), (2, "d1", 1),
                                         (3, "d2", 9), (4, "d2", 1))]
        ids = [self.submit(cluster, definition) for definition in definitions]
        # The second waits for the first one's daemon, and the third does not.
        self.await_checkpoints(cluster, ids[0], ids[2])
        status = cluster.status()
        self.assertEqual(status["queued"], [ids[1], ids[3]])
        for run in (ids[0], ids[2]):
            cluster.wait_until(  # Daemons tell once a second.
                lambda run=run: cluster.ask("status", run)["daemons"],
                "figures of the run's daemon")
            told = cluster.ask("status", run)
            self.assertEqual((told["run"], told["state"]), (run, "running"))
            self.assertEqual({daemon["run"] for daemon in told["daemons"]},
                             {run})
            trace = cluster.folder / f"{run}.json"
            cluster.ask("trace", run, "--last", "10s", "--out", trace)
            self.assertTrue(json.loads(trace.read_text())["traceEvents"])
            lines = cluster.call("logs", run)
            self.assertEqual(lines.returncode, 0, lines.stderr)
            self.assertIn(f"run {run}", lines.stdout)
        for run, definition in zip(ids, definitions):
            self.check_as_alone(cluster, run, definition)
        for run, other in ((ids[0], "d2"), (ids[2], "d1")):
            self.assertNotIn(other, self.summary(cluster, run)["daemons"])

    def test_a_large_run_keeps_its_turn(self):
        cluster = self.cluster(3, [1, 1])
        first = self.submit(cluster, self.on(1, trainers=1))
        large = self.submit(cluster, self.on(2, trainers=2))
        small = self.submit(cluster, self.on(3, trainers=1))
        self.await_checkpoints(cluster, first)  # And nothing else is on.
        self.assertEqual(cluster.status()["queued"], [large, small])
        self.assertIn("the slots that it needs are taken by " + first,
                      cluster.record(large)["message"])
        for run, definition in ((first, self.on(1)),
                                (large, self.on(2, trainers=2)),
                                (small, self.on(3))):
            self.check_as_alone(cluster, run, definition)
        begun = [cluster.record(run)["started"]
                 for run in (first, large, small)]
        self.assertEqual(begun, sorted(begun))

    def test_names_that_nobody_has(self):
        cluster = self.cluster(2, [1])
        self.assertIn("`placement.daemons` names daemon \"d7\"",
                      cluster.refused("submit", self.write(
                          self.on(1, "d7", "d1"), self.parts)))

    # -- losses

    def test_a_daemon_of_one_of_two_is_killed(self):
        cluster = self.cluster(2, [1, 1])
        lost, other = self.on(1, "d1"), self.on(2, "d2")
        ids = [self.submit(cluster, lost), self.submit(cluster, other)]
        self.await_checkpoints(cluster, *ids)
        cluster.daemons[1].kill()
        cluster.wait_until(
            lambda: cluster.record(ids[0])["state"] == "queued",
            "run that waits")
        self.assertEqual(cluster.running(), [ids[1]])
        cluster.add("0-1", "--slots", 1, name="d1")
        self.check_as_alone(cluster, ids[0], lost, attempts=2)
        self.check_as_alone(cluster, ids[1], other)

    def test_a_daemon_that_both_use_is_killed(self):
        cluster = self.cluster(2, [2, 2])
        definitions = [self.on(1, trainers=2), self.on(2, trainers=2)]
        ids = [self.submit(cluster, one) for one in definitions]
        self.await_checkpoints(cluster, *ids)
        cluster.daemons[2].kill()
        cluster.add("0-1", "--slots", 2, name="d2")
        for run, definition in zip(ids, definitions):
            self.check_as_alone(cluster, run, definition, attempts=2)
        # What the daemon that is left had of each was there for it still.
        log = cluster.daemons[0].log.read_text()
        for run in ids:
            self.assertRegex(log, f"run {run}: its state in epoch .* is taken "
                                  "from daemon d1")

    def test_the_coordinator_is_killed(self):
        cluster = self.cluster(2, [1, 1])
        definitions = [self.on(1, "d1"), self.on(2, "d2"), self.on(3)]
        ids = [self.submit(cluster, one) for one in definitions]
        self.await_checkpoints(cluster, *ids[:2])
        cluster.daemons[0].kill()
        cluster.lead()
        for run, definition, attempts in zip(ids, definitions, (2, 2, 1)):
            self.check_as_alone(cluster, run, definition, attempts)
        log = cluster.daemons[0].log.read_text()
        begins = [log.index(f"run {run}: begun", log.rindex(
            "waits for attempt 2")) for run in ids]
        self.assertEqual(begins[2], max(begins))

    def test_one_of_two_is_cancelled(self):
        cluster = self.cluster(2, [2])
        definitions = [self.on(1), self.on(2)]
        ids = [self.submit(cluster, one) for one in definitions]
        self.await_checkpoints(cluster, *ids)
        cluster.ask("cancel", ids[0])
        cluster.await_state(ids[0], "cancelled")
        self.check_as_alone(cluster, ids[1], definitions[1])

    def test_one_of_two_fails(self):
        """Its daemon is told to end."""
        cluster = self.cluster(2, [1, 1])
        definitions = [self.on(1, "d1"), self.on(2, "d2")]
        ids = [self.submit(cluster, one) for one in definitions]
        self.await_checkpoints(cluster, *ids)
        self.assertEqual(cluster.daemons[1].stop(), 0, cluster.logs())
        self.assertIn("has left",
                      cluster.await_state(ids[0], "failed")["message"])
        self.check_as_alone(cluster, ids[1], definitions[1])


if __name__ == "__main__":
    program()
    unittest.main()
