"""The benchmark of a cluster runs, on a small graph, and its sums are right."""

import json
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from support import ROOT, TIMEOUT_SECONDS, program


class Benchmark(runs.Workplace):
    def test_all_cases(self):
        done = subprocess.run(
            ["/usr/bin/python3", ROOT / "examples/cluster/benchmark.py",
             "--program", program(), "--data", self.top / "data",
             "--scale", "10", "--epochs", "2", "--json"],
            text=True, capture_output=True, timeout=TIMEOUT_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        self.assertEqual(list(told["cases"]), ["alone", "apart", "pair", "open"])
        for case in told["cases"].values():
            self.assertEqual(len(case["epochs_seconds"]), 2)
        self.assertTrue(told["figures"]["same_digest"])
        self.assertTrue(told["figures"]["key"]["same_digest"])
        wire = told["figures"]["wire"]
        apart = told["cases"]["apart"]["wire"]
        # What must cross, counted from batches, is what has been asked for and
        # has come; seeds are asked about twice, for their labels, and counts of
        # neighbours come on top.
        needed = wire["must_cross"]
        self.assertEqual(needed["rows"], apart["feature rows"])
        self.assertLess(needed["asked_ids"], apart["ids asked"])
        self.assertGreater(1.1 * needed["asked_ids"], apart["ids asked"])
        self.assertLess(needed["sampled_ids"], apart["sampled neighbours"])
        self.assertGreater(wire["sent"], sum(needed.values()))


if __name__ == "__main__":
    program()
    unittest.main(verbosity=2)
