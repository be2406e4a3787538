"""A model of PyTorch trains on the batches of the Python package."""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import types
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from runs import small_rmat
from support import ROOT, SKIPPED, np, program

sys.path.insert(0, str(ROOT / "actors/python"))
os.environ["GRAPHMILL_BIN"] = str(pathlib.Path(program()).parent)
import graphmill  # noqa: E402

try:
    import torch
except ImportError:
    print("skipped: PyTorch is not installed (Debian: python3-torch)")
    sys.exit(SKIPPED)

# Every step of a linear model over seeds and the means of their neighbours; ends
# with the weights.
RANK_SCRIPT = """
import json, sys, torch, graphmill
from torch.nn.functional import cross_entropy
data, seeds, batch_size, out = sys.argv[1:]
torch.manual_seed(3)
model = torch.nn.Linear(24, 4)
loader = graphmill.Loader(data, [5], seeds=json.loads(seeds), shuffle=True,
                          batch_size=int(batch_size), split="train")
if loader.world_size > 1:
    torch.distributed.init_process_group("gloo")
    model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(3):
    for batch in loader:
        seeds, (source, destination) = batch.batch_size, batch.edge_index
        means = torch.zeros(seeds, 12).index_add_(0, destination, batch.x[source])
        logits = model(torch.cat([batch.x[:seeds], means], 1))
        loss = cross_entropy(logits, batch.y, reduction="sum")
        loss = loss * loader.world_size / batch.global_batch_size
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
if loader.rank == 0:
    weights = [p.detach().numpy().tolist() for p in model.parameters()]
    json.dump(weights, open(out, "w"))
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class OwnModel(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = cls.top / "small"
        small_rmat(cls.data)

    def environment(self, **more):
        return {**os.environ, "PYTHONPATH": str(ROOT / "actors/python"),
                "OMP_NUM_THREADS": "1", **more}

    def test_the_example_learns(self):
        done = subprocess.run(
            [sys.executable, ROOT / "examples/own_model.py", self.data,
             "--epochs", "15", "--batch-size", "40"], text=True,
            capture_output=True, env=self.environment(),
            timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        accuracies = [float(a) for a in re.findall(r"accuracy (\S+)", done.stdout)]
        self.assertEqual(len(accuracies), 15)
        self.assertGreater(max(accuracies), accuracies[0])
        self.assertGreater(accuracies[-1], 0.35)  # Of four classes.

    def test_two_ranks_learn_what_one_does(self):
        """With unequal steps, and one in which a rank has no seeds."""
        for count, batch_size in (10, 4), (9, 4):
            weights = {}
            for world in 1, 2:
                port = free_port()
                out = self.top / f"weights-{count}-{world}.json"
                ranks = [subprocess.Popen(
                    [sys.executable, "-c", RANK_SCRIPT, self.data,
                     json.dumps(list(range(count))), str(batch_size), out],
                    env=self.environment(
                        RANK=str(rank), WORLD_SIZE=str(world),
                        MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)))
                    for rank in range(world)]
                try:
                    for rank in ranks:
                        self.assertEqual(rank.wait(runs.PATIENCE_SECONDS), 0)
                finally:
                    for rank in ranks:
                        rank.kill()
                        rank.wait()
                weights[world] = json.loads(out.read_text())
            for one, two in zip(weights[1], weights[2], strict=True):
                np.testing.assert_allclose(one, two, atol=1e-5)

    def test_tensors_share_the_memory(self):
        with graphmill.Loader(self.data, [4], hold=10) as loader:
            batch = next(iter(loader))
            array = batch.as_numpy().x
            self.assertEqual(batch.x.data_ptr(), array.ctypes.data)
            self.assertEqual((batch.x.dtype, batch.edge_index.dtype),
                             (torch.float32, torch.int64))
            copy = batch.copy()
            self.assertNotEqual(copy.x.data_ptr(), batch.x.data_ptr())
            self.assertEqual(copy.digest(), batch.digest())
            self.assertIs(batch.to("cpu"), batch)

    def test_a_tensor_saved_for_backward_keeps_its_batch(self):
        with graphmill.Loader(self.data, [4], batch_size=5) as loader:
            weight = torch.ones(12, 1, requires_grad=True)
            with self.assertRaisesRegex(graphmill.CreditError, "autograd"):
                losses = [(batch.x @ weight).sum() for batch in loader]
            for _ in range(3):
                for batch in loader:
                    (batch.x @ weight).sum().backward()

    def test_data_of_pyg(self):
        """With a stand-in, for PyG may not be installed."""
        class Data:
            def __init__(self):
                self.stores = {}

            def __getitem__(self, of):
                return self.stores.setdefault(of, types.SimpleNamespace())
        package = types.ModuleType("torch_geometric")
        package.data = types.ModuleType("torch_geometric.data")
        package.data.Data = package.data.HeteroData = Data
        sys.modules.update({"torch_geometric": package,
                            "torch_geometric.data": package.data})
        self.addCleanup(sys.modules.pop, "torch_geometric")
        self.addCleanup(sys.modules.pop, "torch_geometric.data")
        with graphmill.Loader(self.data, [4, 3], as_="pyg") as loader:
            data = next(iter(loader))
        with graphmill.Loader(self.data, [4, 3]) as loader:
            batch = next(iter(loader))
        for name in "x", "edge_index", "y", "n_id":
            self.assertTrue(torch.equal(getattr(data, name),
                                        getattr(batch, name)), name)
        self.assertEqual(data.batch_size, batch.batch_size)
        self.assertEqual(data.num_sampled_nodes, batch.num_sampled_nodes)


if __name__ == "__main__":
    unittest.main()
