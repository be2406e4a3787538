"""Runs that are stopped, and runs that go wrong while they train."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from runs import ENDLESS, Running, merged, tiny_rmat
from support import graphmill, np, program

# Without validation, so that the last weights are the ones that are kept.
DEFINITION = merged(ENDLESS, {"model": {"dropout": 0.2},
                              "faults": {"trainer_delay_ms": 20}})


class Training(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = tiny_rmat(cls.top / "rmat", validation=0)

    def setUp(self):
        self.runs = self.top / self.own_name

    def running(self, change=None, data=None, options=()):
        definition = merged(DEFINITION, change or {})
        return Running([*self.arguments(definition, data or self.data),
                        *options])

    def check_lines(self, run, at_least):
        """Whole lines only, in order; at least so many."""
        text = (run.folder() / "metrics.jsonl").read_text()
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertTrue(text.endswith("\n"))
        self.assertGreaterEqual(len(lines), at_least)
        self.assertEqual([line["epoch"] for line in lines],
                         list(range(1, len(lines) + 1)))


class Stopped(Training):
    """Runs that a user ends."""

    def check_cancelled(self, signals):
        """The step is finished, and what there is is kept and of use."""
        with self.running() as run:
            run.await_phases(2)
            for number in signals:
                run.signal(number)
            code, out, err = run.end()
            self.assertEqual(code, 130, err)
            self.assertIn("stopped by the user", err)
            summary = json.loads(out)
            self.assertTrue(summary["cancelled"])
            self.check_lines(run, 2)
            self.assertEqual(run.left_behind(), [])
        # The weights are those of exactly as many steps.
        steps = summary["steps"]
        self.assertGreater(steps, 2)
        again = self.train(merged(DEFINITION, {
            "train": {"max_steps": steps}, "faults": {"trainer_delay_ms": 0},
        }), self.data)
        print(f"  stopped after {steps} steps with {summary['digest']}, run "
              f"for {again['steps']} steps {again['digest']}")
        self.assertEqual(again["digest"], summary["digest"])
        mine, theirs = self.weights(summary), self.weights(again)
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name])
        done = self.ask("evaluate", summary["run"])
        self.assertGreater(done["seeds"], 0)

    def test_interrupt(self):
        self.check_cancelled([signal.SIGINT])

    def test_terminate(self):
        self.check_cancelled([signal.SIGTERM])

    def test_interrupt_in_the_first_step(self):
        with self.running({"faults": {"trainer_delay_ms": 2500}}) as run:
            run.await_log("run began")
            run.signal(signal.SIGINT)
            code, out, err = run.end()
            self.assertEqual(code, 130, err)
            self.assertLessEqual(json.loads(out)["steps"], 1)

    def test_interrupt_twice(self):
        """The second one does not wait for the step, which takes a minute."""
        with self.running({"faults": {"trainer_delay_ms": 60000}}) as run:
            run.await_log("run began")
            time.sleep(0.3)  # So that the step has begun, most of the time.
            run.signal(signal.SIGINT)
            run.await_log("stopping")
            started = time.monotonic()
            run.signal(signal.SIGINT)
            code, _, err = run.end()
            print(f"  left {time.monotonic() - started:.1f} s after the "
                  f"second signal with exit code {code}")
            self.assertEqual(code, 130, err)
            self.assertLess(time.monotonic() - started, 30)
            self.assertEqual(run.left_behind(), [])

    def test_kill(self):
        with self.running() as run:
            run.await_phases(1)
            run.signal(signal.SIGKILL)
            code, _, _ = run.end()
            self.assertEqual(code, -signal.SIGKILL)
            self.assertEqual(run.left_behind(), [])
            self.assertGreaterEqual(len(run.phases()), 1)
            done = graphmill("evaluate", run.folder())
            self.assertEqual(done.returncode, 1)
            self.assertIn("did not come to its end", done.stderr)
            self.assertIn("`graphmill resume ", done.stderr)


class Failing(Training):
    """Trouble while training: an error that says what, and no hang."""

    def check_fails(self, run, *parts):
        code, _, err = run.end()
        print(f"  {err.strip().splitlines()[-1]}")
        self.assertEqual(code, 1, err)
        for part in parts:
            self.assertIn(part, err)
        self.assertEqual(run.left_behind(), [])
        return err

    def test_stage_that_always_fails(self):
        with self.running({"faults": {"crash_every": 1}}) as run:
            self.check_fails(run, "batch of phase train, epoch 1, step 1",
                             "ended on purpose (faults.crash_every)")

    def test_weights_that_are_no_numbers(self):
        with self.running({"optimizer": {"kind": "sgd", "learning_rate": 1000},
                           "faults": {"trainer_delay_ms": 0}}) as run:
            self.check_fails(run, "not a number", "learning_rate",
                             "metrics so far are in")
            # Nothing was kept that is worth more than the numbers it ended with.
            self.assertFalse((run.folder() / "weights.safetensors").exists())

    def test_features_that_are_no_numbers(self):
        """Of a dataset that was changed, or that others have made."""
        data = self.runs.with_name(f"{self.runs.name}-data")
        shutil.copytree(self.data, data)
        features = np.load(data / "nodes" / "node" / "features.npy",
                           mmap_mode="r+")
        features[:, 5] = np.nan
        del features
        with self.running(data=data, options=["--no-verify"]) as run:
            self.check_fails(run, "batch of phase train", "features of node",
                             "not all finite")

    def check_truncated(self, *file):
        data = self.runs.with_name(f"{self.runs.name}-data")
        shutil.copytree(self.data, data)
        damaged = data.joinpath(*file)
        with self.running(data=data) as run:
            run.await_phases(2)
            run.await_log("verified")
            os.truncate(damaged, 64)
            said = self.check_fails(run, damaged.name,
                                    "weights and metrics so far are in")
            # By whoever sees it first, an actor or the next look at the files.
            self.assertRegex(said, "batch of phase .*shortened"
                                   "|was changed after it was opened")
            self.check_lines(run, 2)
        done = self.ask("evaluate", run.folder(), "--data", self.data)
        self.assertGreater(done["seeds"], 0)

    def test_features_truncated(self):
        self.check_truncated("nodes", "node", "features.npy")

    def test_edges_truncated(self):
        self.check_truncated("edges", "node__links__node", "indices.npy")

    def check_full_disk(self, size, change, file):
        """A run whose folder lies on a tiny file system ends with an error
        that names the file."""
        self.runs.mkdir()
        probe = subprocess.run(["unshare", "-m", "true"], capture_output=True)
        if os.geteuid() != 0 or probe.returncode != 0:
            self.skipTest("needs root, to mount a tiny file system")
        change["faults"] = {"trainer_delay_ms": 0}
        done = subprocess.run(
            ["unshare", "-m", "--propagation", "private", "sh", "-c",
             f"mount -t tmpfs -o size={size} none \"$0\" && exec \"$@\"",
             str(self.runs),
             *self.arguments(merged(DEFINITION, change), self.data)],
            text=True, capture_output=True, timeout=runs.PATIENCE_SECONDS)
        print(f"  {done.stderr.strip()}")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(file, done.stderr)
        self.assertIn("No space left on device", done.stderr)

    def test_disk_too_small_for_weights(self):
        self.check_full_disk("128k", {"model": {"hidden": 4096},
                                      "train": {"max_steps": 2}},
                             "weights.safetensors")

    def test_disk_full_of_metrics(self):
        self.check_full_disk("64k", {}, "metrics.jsonl")

    def test_runs_folder_that_is_a_file(self):
        self.runs.write_text("")
        done = subprocess.run(self.arguments(DEFINITION, self.data), text=True,
                              capture_output=True,
                              timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(str(self.runs), done.stderr)


if __name__ == "__main__":
    program()
    unittest.main()
