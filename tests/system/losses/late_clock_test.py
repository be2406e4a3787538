"""The time of day is set back by an hour while a run is on, a trainer and the
coordinator die after that, and nothing is lost: who waits, waits by a clock that
only goes forward."""

import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[0] / "support"))
sys.path.insert(0, str(HERE.parents[0]))
import chaos
import runs
from runs import merged
from supervised import Supervised
from support import program, within_obstacles

ONE_RUN_SECONDS = 150
# Less than the hour that the clock goes back.
MOST_SECONDS = 600

DEFINITION = merged(chaos.DEFINITION, {
    "placement": {"samplers": [], "owners": 1},
    "checkpoint": {"every_steps": 2},
    "faults": {"trainer_delay_ms": 100},
})
LAYOUT = [("c", "none", "--slots", "0"), ("t0", "0", "--slots", "1"),
          ("t1", "1", "--slots", "1")]


class LateClock(runs.Workplace):
    def check_finished(self, drill, run):
        record = drill.await_end(run, ONE_RUN_SECONDS)
        wrong = drill.what_is_wrong(run, record)
        self.assertIsNone(wrong, drill.cluster.logs())
        self.assertGreater(record["summary"]["seconds"], 0)
        self.assertLess(record["summary"]["seconds"], MOST_SECONDS)
        return record

    def test_set_back_while_a_run_is_on(self):
        parts = chaos.make_data(self.top)
        quick = merged(DEFINITION, {"faults": {"trainer_delay_ms": 0}})
        digest = self.train(quick, parts)["digest"]
        late = self.top / "late"
        with Supervised(self.top / "cluster", parts, LAYOUT,
                        through=within_obstacles(LATE_CLOCK=late)) as cluster:
            drill = chaos.Drill(cluster, self.write(DEFINITION, parts, "-slow"),
                                ONE_RUN_SECONDS)
            drill.digest = digest
            run = drill.submit()
            checkpoints = cluster.folder / "runs" / run / "checkpoints"
            self.assertTrue(cluster.wait_until(
                lambda: list(checkpoints.glob("[0-9]*")), "checkpoint",
                ONE_RUN_SECONDS), cluster.logs())
            late.touch()
            for name in ("t1", "c"):
                restarts = cluster.restarts
                cluster.kill(name)
                self.assertTrue(cluster.wait_until(
                    lambda: cluster.restarts > restarts and cluster.all_there(),
                    "daemons", ONE_RUN_SECONDS), cluster.logs())
            first = self.check_finished(drill, run)
            self.assertGreaterEqual(first["summary"]["attempts"], 2)
            # The next run was submitted earlier, and comes after it.
            second = self.check_finished(drill, drill.submit())
            self.assertLess(second["submitted"], first["submitted"])
            listed = [each["run"] for each in cluster.answer("runs")["runs"]]
            self.assertLess(listed.index(first["run"]),
                            listed.index(second["run"]))


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
