"""Several runs at once that want more room than there is: whose slots are whose
when daemons are lost, when runs grow, and when another coordinator follows."""

import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from runs import merged
from several_runs import TRAINED, SeveralRuns
from support import program

# A run that lacks a daemon for so long fails.
SHORT = {"recovery": {"wait": 2}}
PATIENT = {"recovery": {"wait": 120}}


def elastic(seed, most, epochs):
    return merged(TRAINED, {
        "seed": seed, "trainer": {"replicas": {"min": 1, "max": most}},
        "train": {"epochs": epochs}})


class RoomForRuns(SeveralRuns):
    def attempts(self, cluster, run):
        return self.summary(cluster, run).get("attempts", 1)

    def message(self, cluster, run):
        return cluster.record(run)["message"]

    def test_runs_that_may_grow_leave_each_other_alone(self):
        cluster = self.cluster(2, [1])
        first = self.submit(cluster, elastic(1, 4, 3))
        self.await_checkpoints(cluster, first)
        second = self.submit(cluster, elastic(2, 4, 3))
        cluster.add("0-1", "--slots", 1)
        for run in first, second:
            cluster.await_state(run, "finished")
        # Who is left when the other one ends takes its slot, once.
        self.assertEqual(self.attempts(cluster, first), 1, cluster.logs())
        self.assertLessEqual(self.attempts(cluster, second), 2, cluster.logs())

    def test_what_is_free_is_for_the_queue_first(self):
        cluster = self.cluster(2, [1, 1])
        ends = self.submit(cluster, merged(self.on(2), {"train": {"epochs": 5}}))
        self.await_checkpoints(cluster, ends)
        grows = self.submit(cluster, elastic(1, 2, 8))
        follows = self.submit(cluster, merged(self.on(3),
                                              {"train": {"epochs": 10}}))
        self.await_checkpoints(cluster, ends, grows)
        for run in ends, grows:
            cluster.await_state(run, "finished")
        # Its last epochs were beside a run that took the slot at once.
        self.assertEqual(cluster.record(follows)["state"], "running")
        self.assertEqual(self.attempts(cluster, grows), 1, cluster.logs())
        cluster.await_state(follows, "finished")

    def test_slots_of_a_run_that_waits_are_its_own(self):
        cluster = self.cluster(2, [1, 1, 1])
        for name in "d2", "d3":
            cluster.ask("drain", name)
        # No epoch of it ends while the daemons come back one by one.
        grows = self.submit(cluster, merged(elastic(1, 3, 2),
                                            {"train": {"batch_size": 1}}))
        self.await_checkpoints(cluster, grows)
        fixed = merged(self.on(2, "d2", "d3", trainers=2), PATIENT)
        waits = self.submit(cluster, fixed)
        for name in "d2", "d3":
            cluster.ask("drain", name, "--back")
        self.await_checkpoints(cluster, grows, waits)
        cluster.daemons[3].kill()
        cluster.wait_until(
            lambda: cluster.record(waits)["state"] == "queued",
            "run that waits")
        cluster.add("0-1", "--slots", 1, name="d3")
        self.check_as_alone(cluster, waits, fixed, attempts=2)
        cluster.await_state(grows, "finished")

    def test_a_run_waits_for_the_slots_of_another_one(self):
        """It has lost its daemon for good, and the other one's is in use."""
        cluster = self.cluster(2, [1, 1])
        definitions = [merged(self.on(seed), SHORT,
                              {"train": {"epochs": epochs}})
                       for seed, epochs in ((1, 6), (2, 8))]
        ids = [self.submit(cluster, one) for one in definitions]
        self.await_checkpoints(cluster, *ids)
        lost = 1 + (self.trainer_of(cluster, ids[0]) == "d2")
        cluster.daemons[lost].kill()
        said = "it goes on once there is room for it: the slots that it needs"
        cluster.wait_until(
            lambda: any(said in self.message(cluster, run) for run in ids),
            "run that waits for slots")
        for run, definition in zip(ids, definitions):
            cluster.await_state(run, "finished")
            self.check_as_alone(cluster, run, definition,
                                self.attempts(cluster, run))

    def trainer_of(self, cluster, run):
        """The daemon of its trainer, once that has told of itself: daemons
        do so each second, and the first checkpoint may be earlier."""
        found = []

        def told():
            found[:] = [daemon["daemon"]
                        for daemon in cluster.ask("status", run)["daemons"]
                        for actor in daemon["actors"]
                        if actor["kind"] == "trainer"]
            return found
        cluster.wait_until(told, f"health of the trainer of {run}")
        return found[0]

    def test_a_coordinator_that_has_fewer_on(self):
        cluster = self.cluster(2, [1, 1])
        definitions = [merged(self.on(seed, name), SHORT,
                              {"train": {"epochs": epochs}})
                       for seed, name, epochs in ((1, "d1", 8), (2, "d2", 8))]
        ids = [self.submit(cluster, one) for one in definitions]
        self.await_checkpoints(cluster, *ids)
        cluster.daemons[0].kill()
        cluster.at_once = 1
        cluster.lead()
        cluster.wait_until(
            lambda: any("as many runs are on as may be at a time, 1"
                        in self.message(cluster, run) for run in ids),
            "run that waits for its place")
        for run, definition in zip(ids, definitions):
            self.check_as_alone(cluster, run, definition, attempts=2)


if __name__ == "__main__":
    program()
    unittest.main()
