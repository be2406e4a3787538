"""Models of PyTorch train on the batches of the Python package: the examples, and
what they promise of ranks, kills and memory."""

import collections
import contextlib
import ctypes
import json
import os
import pathlib
import pickle
import re
import socket
import subprocess
import sys
import time
import types
import unittest
import unittest.mock
import warnings

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from imports import save
from links_test import groups
from loader_test import typed_dataset
from runs import small_rmat
from support import ROOT, SKIPPED, Dataset, imported, np, program

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

# An example whose ranks each leave the weights that they end with.
WITH_WEIGHTS = """
import os, runpy, sys, torch
_, out, example, *_ = sys.argv
weights = []
class Noting(torch.optim.Adam):
    def __init__(self, parameters, **options):
        weights.extend(parameters)
        super().__init__(weights, **options)
torch.optim.Adam = Noting
sys.argv[:2] = []
sys.path.insert(0, os.path.dirname(example))
runpy.run_path(example, run_name="__main__")
torch.save([one.detach() for one in weights], out + os.environ.get("RANK", "0"))
"""


class LateDevice:
    """In the place of a CUDA device: copies as late as one may, from addresses, as
    a device does."""

    registers = True

    def __init__(self, device):
        self.device, self.begun, self.over = device, 0, 0
        self.copies, self.extents, self.forgotten = collections.deque(), {}, {}
        devices.append(self)

    def register(self, address, size):
        if self.registers:
            self.extents[address] = size
        return self.registers

    def forget(self, address):
        assert self.over == self.begun, "copies are under way"
        self.forgotten[address] = self.extents.pop(address)

    def copied(self, batch):
        made = batch.copy()
        for at, array in made._held.items():
            array.fill(0)
            source = batch._raw(*at)
            assert not source.nbytes or not self.registers or any(
                begin <= source.ctypes.data < begin + size
                for begin, size in self.extents.items())
            self.copies.append((array, source.ctypes.data, source.nbytes))
        self.copies.append(None)
        self.begun += 1
        return made, self.begun

    def use(self, batch, event):
        assert event <= self.begun

    def is_over(self, event):
        return event <= self.over

    def wait(self, event):
        while self.over < event:
            copy = self.copies.popleft()
            if copy is None:
                self.over += 1
            else:
                array, source, size = copy
                ctypes.memmove(array.ctypes.data, source, size)


devices = []


class Shared(torch.Tensor):
    """An array in the memory of batches, as CUDA sees it: its copies are checked
    and made late."""

    @classmethod
    def __torch_function__(cls, function, kinds, arguments=(), options=None):
        options = dict(options or {})
        if function is torch.Tensor.to:
            source = arguments[0]
            return cls.driver.copied(source, torch.empty_like(
                source.as_subclass(torch.Tensor)))
        if function is torch.Tensor.copy_:
            return cls.driver.copied(arguments[1], arguments[0])
        return super().__torch_function__(function, kinds, arguments, options)


class OnDevice(torch.Tensor):
    def record_stream(self, stream):
        pass


class FakeCuda:
    """The part of torch and of the CUDA runtime that copies need, with the rules of
    the runtime. Copies from registered memory are made when an event is waited for."""

    def __init__(self, fails):
        self.fails, self.registered, self.late = fails, {}, []
        self.calls, self.pinned, self.pageable, self.begun, self.over = 0, 0, 0, 0, 0
        none = contextlib.nullcontext()
        self.cuda = types.SimpleNamespace(
            is_available=lambda: True, device=lambda device: none,
            Stream=lambda device: none, stream=lambda stream: stream,
            current_stream=lambda device: types.SimpleNamespace(
                wait_event=lambda event: None),
            Event=lambda: FakeEvent(self), cudart=lambda: self)
        Shared.driver = self

    def __getattr__(self, name):
        return getattr(torch, name)

    def device(self, name):
        return torch.device("cpu")

    def zeros(self, *shape, **options):
        return torch.zeros(*shape)

    def from_numpy(self, array):
        return torch.from_numpy(array).as_subclass(Shared)

    def empty_like(self, tensor, device):
        return torch.empty_like(tensor.as_subclass(torch.Tensor)
                                ).as_subclass(OnDevice)

    def cudaHostRegister(self, address, size, flags):  # noqa: N802
        self.calls += 1
        if self.fails(self.calls):
            return 2
        assert not any(address < begin + length and begin < address + size
                       for begin, length in self.registered.items())
        self.registered[address] = size
        return 0

    def cudaHostUnregister(self, address):  # noqa: N802
        assert not self.late, "copies are under way"
        del self.registered[address]

    def copied(self, source, made):
        begin, size = source.data_ptr(), source.numel() * source.element_size()
        past = begin + size
        touched = [(at, at + length) for at, length in self.registered.items()
                   if begin < at + length and at < past]
        if size and touched:
            (first, last), *others = touched
            if others or begin < first or last < past:
                raise RuntimeError("CUDA error: invalid argument")
            made.zero_()
            self.late.append((made, begin, size))
            self.pinned += 1
        elif size:
            ctypes.memmove(made.data_ptr(), begin, size)
            self.pageable += 1
        return made.as_subclass(OnDevice)


class FakeEvent:
    def __init__(self, driver):
        self.driver = driver

    def record(self, stream):
        self.driver.begun += 1
        self.number, self.end = self.driver.begun, len(self.driver.late)

    def query(self):
        return self.driver.over >= self.number

    def synchronize(self):
        if not self.query():
            for made, source, size in self.driver.late:
                ctypes.memmove(made.data_ptr(), source, size)
            self.driver.late.clear()
            self.driver.over = self.driver.begun


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

    def call(self, example, *arguments):
        done = subprocess.run(
            [sys.executable, ROOT / "examples" / example, *map(str, arguments)],
            text=True, capture_output=True, env=self.environment(),
            timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [float(a) for a in re.findall(r"accuracy (\S+)", done.stdout)]

    def test_the_example_learns(self):
        accuracies = self.call("own_model.py", self.data, "--epochs", 15,
                               "--batch-size", 40)
        self.assertEqual(len(accuracies), 15)
        self.assertGreater(max(accuracies), accuracies[0])
        self.assertGreater(accuracies[-1], 0.35)  # Of four classes.

    def call_ranks(self, world, *command):
        """Starts what torchrun would; returns what each rank has printed."""
        port = str(free_port())
        ranks = [subprocess.Popen(
            [sys.executable, *map(str, command)], stdout=subprocess.PIPE,
            text=True, env=self.environment(
                RANK=str(rank), WORLD_SIZE=str(world), MASTER_ADDR="127.0.0.1",
                MASTER_PORT=port)) for rank in range(world)]
        try:
            printed = [rank.communicate(timeout=runs.PATIENCE_SECONDS)[0]
                       for rank in ranks]
            self.assertEqual([rank.returncode for rank in ranks], [0] * world)
        finally:
            for rank in ranks:
                rank.kill()
                rank.wait()
        return printed

    def test_two_ranks_of_the_example(self):
        """In the last step, one of them has no seeds: there are 102 in all."""
        first, second = self.call_ranks(
            2, ROOT / "examples/own_model.py", self.data, "--epochs", 15,
            "--batch-size", 101)
        self.assertEqual(second, "")
        accuracies = [float(a) for a in re.findall(r"accuracy (\S+)", first)]
        self.assertEqual(len(accuracies), 15)
        self.assertGreater(accuracies[-1], accuracies[0])

    def test_wordnet(self):
        if not pathlib.Path("/usr/share/wordnet/data.noun").exists():
            self.skipTest("the package wordnet-base is not installed")
        data = self.top / "wordnet"
        imported("wordnet", "--features", 256, "--out", data)
        accuracies = self.call("own_model.py", data, "--epochs", 2,
                               "--batch-size", 256)
        self.assertGreater(accuracies[1], accuracies[0])
        self.assertGreater(accuracies[1], 0.5)  # Of 45 classes.

    def test_an_example_that_is_killed_goes_on(self):
        """To the weights of one that was not: at its first checkpoint, and later
        in an epoch."""
        arguments = [self.data, "--epochs", 4, "--batch-size", 10,
                     "--save-every", 1, "--checkpoint"]
        whole, broken = self.top / "whole.pt", self.top / "broken.pt"
        self.call("own_model.py", *arguments, whole)
        for step in 0, 7:
            example = subprocess.Popen(
                [sys.executable, ROOT / "examples/own_model.py",
                 *map(str, arguments), broken], env=self.environment(),
                stdout=subprocess.DEVNULL)
            try:
                deadline = time.monotonic() + runs.PATIENCE_SECONDS
                while not self.has_come_to(broken, step):
                    self.assertLess(time.monotonic(), deadline)
                    time.sleep(0.001)
            finally:
                example.kill()
                self.assertEqual(example.wait(), -9, "it has ended before")
        self.call("own_model.py", *arguments, broken)
        expected, made = torch.load(whole), torch.load(broken)
        self.assertEqual(made["loader"], expected["loader"])
        for name, value in expected["model"].items():
            self.assertTrue(torch.equal(made["model"][name], value), name)

    @staticmethod
    def has_come_to(checkpoint, step):
        if not checkpoint.exists():
            return False
        state = torch.load(checkpoint)["loader"]
        return state["epoch"] > 0 or state["step"] > step

    def test_layer_by_layer(self):
        """All nodes of a graph, and of its parts, as one pass over the whole."""
        checkpoint = self.top / "layers.pt"
        self.call("own_model.py", self.data, "--epochs", 1, "--checkpoint",
                  checkpoint)
        whole = Dataset(self.data)
        name, = whole.edge_types()
        edges = torch.from_numpy(whole.edges(name))
        sys.path.insert(0, str(ROOT / "examples"))
        self.addCleanup(sys.path.pop, 0)
        from own_model import Sage
        model = Sage([12, 64, 4])
        model.load_state_dict(torch.load(checkpoint)["model"])
        model.eval()
        x = torch.from_numpy(whole.node_array("node", "features"))
        with torch.no_grad():
            x = model.layers[0](x, edges, len(x)).relu()
            expected = model.layers[1](x, edges, len(x)).numpy()
        for number, data in enumerate((self.data, runs.partitioned(
                self.data, 3, "random"))):
            out = self.top / f"logits-{number}.npy"
            self.call("own_layers.py", data, checkpoint, out, "--batch-size", 100)
            np.testing.assert_allclose(np.load(out), expected, atol=1e-5)
            self.assertEqual([path.name for path in self.top.glob(f"{out.name}*")],
                             [out.name])

    def planted_authors(self):
        """Classes of papers that only the edges from authors tell."""
        source, data = self.top / "typed-source", self.top / "typed"
        if data.exists():
            return data
        source.mkdir()
        rng = np.random.default_rng(8)
        (source / "meta.json").write_text(json.dumps({
            "name": "typed", "node_types": {
                "author": {"num_nodes": 30},
                "paper": {"num_nodes": 300, "num_classes": 3}}}))
        order, classes = rng.permutation(300), rng.integers(0, 3, 300)
        authors = np.stack([rng.integers(0, 10, 900) * 3 + np.repeat(classes, 3),
                            np.repeat(np.arange(300), 3)])
        save(source, **{
            "paper.features": rng.normal(size=(300, 5)).astype(np.float32),
            "paper.labels": classes, "paper.train_idx": order[:200],
            "paper.val_idx": order[200:],
            "paper__cites__paper.edges": rng.integers(0, 300, (2, 600)),
            "author__writes__paper.edges": authors})
        imported("npy", source, "--out", data)
        return data

    def test_typed_graphs(self):
        accuracies = self.call("own_typed_model.py", self.planted_authors(),
                               "--epochs", 12, "--batch-size", 20)
        self.assertEqual(len(accuracies), 12)
        self.assertGreater(accuracies[-1], 0.9)

    def torchrun(self, name, example, *arguments):
        """Runs an example by torchrun itself. Returns what it prints, and the
        weights that each of two ranks ends with."""
        script, out = self.top / "with_weights.py", self.top / f"{name}-"
        script.write_text(WITH_WEIGHTS)
        # Where Debian's PyTorch 1.13 meets Python 3.11, it cannot redirect nothing:
        # this redirects a rank that there is not.
        done = subprocess.run(
            [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2",
             "--rdzv_backend", "c10d", "--rdzv_endpoint", "localhost:0",
             "--monitor_interval", "0.1", "--log_dir", self.top / "logs",
             "-r", "9:1", "-t", "9:1", script, out,
             ROOT / "examples" / example, *map(str, arguments)],
            text=True, capture_output=True, env=self.environment(),
            timeout=runs.PATIENCE_SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, [torch.load(f"{out}{rank}") for rank in range(2)]

    def test_torchrun_has_equal_ranks(self):
        """In each example, one rank tells of each epoch, and both end with the same
        weights, though each has seen its own share of the seeds."""
        if not torch.distributed.is_available():
            self.skipTest("this PyTorch cannot be distributed")
        links = groups(self.top / "groups", np.random.default_rng(5))
        for name, data, epochs, figure, least in (
                ("own_model", self.data, 15, r"accuracy (\S+)", 0.35),
                ("own_links", links, 3, r"validation mrr ([\d.]+)", 0.2),
                ("own_typed_model", self.planted_authors(), 12,
                 r"accuracy (\S+)", 0.9)):
            with self.subTest(name):
                printed, (first, second) = self.torchrun(
                    name, f"{name}.py", data, "--epochs", epochs, "--batch-size",
                    {"own_model": 101, "own_links": 200}.get(name, 20))
                found = re.findall(figure, printed)
                self.assertEqual(len(found), epochs, printed)
                self.assertGreater(float(found[-1]), least)
                self.assertGreater(len(first), 3)
                for one, other in zip(first, second, strict=True):
                    self.assertTrue(torch.equal(one, other))

    def test_two_ranks_learn_what_one_does(self):
        """With unequal steps, and one in which a rank has no seeds."""
        for count, batch_size in (10, 4), (9, 4):
            weights = {}
            for world in 1, 2:
                out = self.top / f"weights-{count}-{world}.json"
                self.call_ranks(world, "-c", RANK_SCRIPT, self.data,
                                json.dumps(list(range(count))), batch_size, out)
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

    @contextlib.contextmanager
    def late_loader(self, **options):
        devices.clear()
        with unittest.mock.patch("graphmill._device.Cuda", LateDevice), \
                graphmill.Loader(self.data, [4, 3], batch_size=9, device="cuda",
                                 **options) as loader:
            yield loader

    def test_copies_to_a_device(self):
        """That a device makes late, also of passes that are left early."""
        with graphmill.Loader(self.data, [4, 3], batch_size=9) as loader:
            expected = [batch.digest() for _ in range(3) for batch in loader]
        steps = len(expected) // 3
        for hold, prefetch in (1, 1), (2, 4), (5, 2):
            with self.subTest(hold=hold), self.late_loader(
                    hold=hold, prefetch=prefetch, budget=1) as loader:
                batches = [next(iter(loader))]
                batches += [batch for _ in range(2) for batch in loader]
                self.assertLessEqual(devices[0].begun - devices[0].over, hold + 1)
                loader.close()  # All copies are over.
                self.assertEqual([batch.digest() for batch in batches],
                                 [expected[0], *expected[steps:]])
                self.assertEqual(devices[0].extents, {})
                self.assertTrue(devices[0].forgotten)

    def test_copies_from_memory_that_no_device_reads(self):
        with unittest.mock.patch.object(LateDevice, "registers", False), \
                warnings.catch_warnings(record=True) as told, \
                self.late_loader() as loader:
            warnings.simplefilter("always")
            self.assertGreater(len(list(loader)), 5)
        self.assertEqual([str(one.message).split(",")[0] for one in told],
                         ["the device cannot read the memory of batches where it "
                          "is"])

    def test_copies_cross_no_registered_memory(self):
        """Nor what is registered in part: CUDA would refuse them."""
        with graphmill.Loader(self.data, [4, 3], batch_size=33) as loader:
            expected = [batch.digest() for batch in loader]
        for fails in (lambda call: False, lambda call: call % 3 == 2,
                      lambda call: True):
            driver = FakeCuda(fails)
            imported_by = types.SimpleNamespace(import_module=lambda name: driver)
            with self.subTest(pageable=fails(2)), \
                    unittest.mock.patch("graphmill._device.importlib", imported_by), \
                    unittest.mock.patch("graphmill._device._EXTENT", 1 << 14), \
                    warnings.catch_warnings(record=True) as told, \
                    graphmill.Loader(self.data, [4, 3], batch_size=33, device="cuda"
                                     ) as loader:
                warnings.simplefilter("always")
                batches = list(loader)
                loader.close()
                self.assertEqual([batch.digest() for batch in batches], expected)
                arrays = sum(len(batch._tensors()) for batch in batches)
                self.assertGreater(driver.pinned + driver.pageable, arrays)
                self.assertEqual((driver.pinned > 0, driver.pageable > 0, len(told)),
                                 (not fails(1), fails(2), fails(2)))
                self.assertEqual((driver.registered, driver.late), ({}, []))

    def test_a_device_that_is_not_there(self):
        if torch.cuda.is_available():
            self.skipTest("there is a CUDA device")
        with self.assertRaisesRegex(graphmill.DefinitionError, "no CUDA device"):
            next(iter(graphmill.Loader(self.data, [4], device="cuda:0")))

    def test_a_tensor_saved_for_backward_keeps_its_batch(self):
        with graphmill.Loader(self.data, [4], batch_size=5) as loader:
            weight = torch.ones(12, 1, requires_grad=True)
            with self.assertRaisesRegex(graphmill.CreditError, "autograd"):
                losses = [(batch.x @ weight).sum() for batch in loader]
            for _ in range(3):
                for batch in loader:
                    (batch.x @ weight).sum().backward()

    def stand_in_for_pyg(self):
        """For PyG may not be installed."""
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

    def test_data_of_pyg(self):
        self.stand_in_for_pyg()
        with graphmill.Loader(self.data, [4, 3], as_="pyg") as loader:
            data = next(iter(loader))
        with graphmill.Loader(self.data, [4, 3]) as loader:
            batch = next(iter(loader))
        for name in "x", "edge_index", "y", "n_id":
            self.assertTrue(torch.equal(getattr(data, name),
                                        getattr(batch, name)), name)
        self.assertEqual(data.batch_size, batch.batch_size)
        self.assertEqual(data.num_sampled_nodes, batch.num_sampled_nodes)

    def test_assigned_values_of_one_type(self):
        self.stand_in_for_pyg()
        with graphmill.Loader(self.data, [4, 3], batch_size=9) as loader:
            batch = next(iter(loader))
        before, edges = batch.digest(), batch.edge_types[0]
        batch.x = batch.x * 2
        batch.edge_part = torch.arange(batch.num_edges)
        batch.note = ["told"]
        batch.rows = np.arange(3)
        self.assertIs(batch["node"].x, batch.x)
        self.assertIs(batch[edges].edge_part, batch.edge_part)
        for other in (batch, batch.copy(), pickle.loads(pickle.dumps(batch)),
                      batch.to("cpu"), batch.as_pyg(), batch.as_numpy().to("cpu")):
            self.assertTrue(torch.equal(other.x, batch.x))
            self.assertTrue(torch.equal(other.edge_part, batch.edge_part))
            self.assertEqual((other.note, list(other.rows)), (["told"], [0, 1, 2]))
        moved = batch.to("cpu")
        self.assertIsInstance(moved.rows, torch.Tensor)
        self.assertEqual((batch.to("meta").x.device.type, moved.digest()),
                         ("meta", before))
        copied = batch.copy()
        copied.x.zero_()
        self.assertGreater(batch.x.abs().sum(), 0)

    def test_assigned_values_of_several_types(self):
        """A transform gives authors, which have no features, rows that are learnt."""
        self.stand_in_for_pyg()
        learnt = torch.nn.Embedding(30, 5)

        def with_rows(batch):
            batch["author"].x = learnt(batch["author"].n_id)
            return batch
        with graphmill.Loader(typed_dataset(self.top / "assigned"), [3, 2],
                              batch_size=20, transform=with_rows) as loader:
            batch = next(iter(loader))
        rows = learnt(batch["author"].n_id)
        for other in batch, batch.copy(), pickle.loads(pickle.dumps(batch)):
            self.assertEqual(set(other.x_dict), {"author", "paper"})
            self.assertTrue(torch.equal(other.x_dict["author"], rows))
            self.assertEqual(other.digest(), batch.digest())
        data = batch.as_pyg()
        self.assertIs(data["author"].x, batch["author"].x)
        self.assertTrue(torch.equal(data["paper"].x, batch["paper"].x))
        self.assertFalse(batch.as_numpy()["author"].x.flags.owndata)
        batch.x_dict["author"].sum().backward()
        self.assertGreater(learnt.weight.grad.abs().sum(), 0)


if __name__ == "__main__":
    unittest.main()
