"""Curves for TensorBoard, read by a reader of their own: what metrics say."""

import json
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import event_files
import runs
from runs import Running, merged, small_rmat
from support import graphmill, program

DEFINITION = merged(runs.SMALL, {"train": {"batch_size": 16, "epochs": 4},
                                 "checkpoint": {"every_steps": 3}})
SLOW = {"faults": {"trainer_delay_ms": 40}}


def checkpoints(folder):
    """Those that are whole."""
    return (folder / "checkpoints").glob("[0-9]*")


class TensorBoard(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = small_rmat(cls.top / "rmat", train=0.1, validation=0.1,
                              test=0.1)

    def setUp(self):
        self.runs = self.top / self.own_name

    def train_with(self, *options, change=None):
        """Trains with options and returns the run folder."""
        arguments = self.arguments(merged(DEFINITION, change or {}), self.data)
        done = subprocess.run([*arguments, *options], text=True,
                              capture_output=True,
                              timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return pathlib.Path(json.loads(done.stdout.splitlines()[-1])["run"])

    def check_curves(self, run, place=None):
        """One file, which begins a session and tells what metrics tell."""
        place = place or run / "tensorboard"
        self.assertEqual(len(event_files.event_files(place)), 1)
        found = event_files.events(place)
        self.assertEqual(found[1]["session"], {1: 1})
        self.assertEqual([event for event in found[2:]
                          if "session" in event or not event["scalars"]], [])
        curves = event_files.scalars(place)
        self.assertEqual(curves, event_files.of_metrics(run))
        # 102 seeds in batches of 16 make 7 steps; the test comes after all.
        for epoch in range(1, 5):
            self.assertIn(("train/loss", 7 * epoch), curves)
            self.assertIn(("validation/accuracy", 7 * epoch), curves)
        self.assertEqual(len(curves), 4 * 4 + 4 * 2 + 2)
        return curves

    def test_curves_are_the_metrics(self):
        before = time.time()
        run = self.train_with("--tensorboard")
        curves = self.check_curves(run)
        times = [when for _, when in curves.values()]
        self.assertGreater(min(times), before - 60)
        for path in [run / "tensorboard", *(run / "tensorboard").iterdir()]:
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_none_without_the_option(self):
        self.assertFalse((self.train_with() / "tensorboard").exists())

    def test_elsewhere(self):
        place = self.top / "boards"
        run = self.train_with("--tensorboard", str(place))
        self.check_curves(run, place / run.name)
        self.assertEqual((run / "tensorboard").resolve(),
                         (place / run.name).resolve())

    def test_no_place(self):
        """A file is in the way: there is no run, and no folder of one."""
        place = self.top / "a-file"
        place.write_text("")
        done = subprocess.run(
            [*self.arguments(DEFINITION, self.data), "--tensorboard",
             str(place)], text=True, capture_output=True,
            timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(str(place), done.stderr)
        self.assertEqual(list(self.runs.glob("*")), [])

    def test_killed_and_gone_on_with(self):
        undisturbed = self.check_curves(self.train_with("--tensorboard"))
        self.runs = self.top / "killed"
        arguments = [*self.arguments(merged(DEFINITION, SLOW), self.data),
                     "--tensorboard"]
        with Running(arguments) as run:
            run.await_phases(3)
            folder = run.folder()
            run.wait_until(lambda: any(checkpoints(folder)), "checkpoint")
            run.signal(signal.SIGKILL)
            run.end()
        # From the oldest checkpoint: the curves are ahead of it.
        first = min(checkpoints(folder)).name
        done = graphmill("resume", folder, "--quiet", "--from", first)
        self.assertEqual(done.returncode, 0, done.stderr)
        curves = self.check_curves(folder)
        self.assertEqual(curves.keys(), undisturbed.keys())
        for key, (value, _) in curves.items():
            if key[0] != "seeds_per_second":
                self.assertEqual(value, undisturbed[key][0], key)

    def test_begun_when_gone_on_with(self):
        """The curves of a run that had none begin with its first epoch."""
        run = self.train_with(change={"train": {"epochs": 2}})
        done = graphmill("resume", run, "--quiet", "--tensorboard",
                         "--with-changes", "--set", "train.epochs=4")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.check_curves(run)


if __name__ == "__main__":
    program()
    unittest.main()
