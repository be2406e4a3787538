"""Batches on a real CUDA device: those of the CPU, while older ones are computed
with. Skipped where there is no device; loader_test.py and own_model_test.py have
stand-ins for one."""

import os
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from runs import small_rmat
from support import ROOT, SKIPPED, program

sys.path.insert(0, str(ROOT / "actors/python"))
os.environ["GRAPHMILL_BIN"] = str(pathlib.Path(program()).parent)
import graphmill  # noqa: E402

try:
    import torch
    if not torch.cuda.is_available():
        raise ImportError("no CUDA device")
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)


class Cuda(runs.Workplace):
    def test_batches_are_those_of_the_cpu(self):
        data = self.top / "small"
        small_rmat(data)
        options = {"fanouts": [4, 3], "batch_size": 33, "degrees": True}
        with graphmill.Loader(data, **options) as loader:
            expected = [(batch.digest(), batch.x.sum(dtype=torch.float64).item())
                        for _ in range(3) for batch in loader]
        found = []
        with graphmill.Loader(data, **options, device="cuda") as loader:
            for _ in range(3):
                for batch in loader:
                    self.assertEqual(batch.x.device.type, "cuda")
                    for _ in range(20):  # The device falls behind.
                        batch.x @ batch.x.T
                    found.append((batch.to("cpu").digest(),
                                  batch.x.sum(dtype=torch.float64).item()))
        self.assertEqual([digest for digest, _ in found],
                         [digest for digest, _ in expected])
        for (_, one), (_, other) in zip(found, expected):
            self.assertAlmostEqual(one, other, places=6)


if __name__ == "__main__":
    program()
    unittest.main()
