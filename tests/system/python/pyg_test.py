"""Batches as objects of PyTorch Geometric, of the real one, for its own layers and
tools: what PyG's tests ask of its NeighborLoader, but for the draws."""

import os
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import runs
from runs import partitioned
from support import ROOT, SKIPPED, program

sys.path.insert(0, str(ROOT / "actors/python"))
os.environ["GRAPHMILL_BIN"] = str(pathlib.Path(program()).parent)
import graphmill  # noqa: E402

try:
    import torch
    import torch_geometric
    from torch_geometric.data import Data, HeteroData
    from torch_geometric.nn import GraphConv, SAGEConv, to_hetero
    from torch_geometric.utils import k_hop_subgraph, trim_to_layer
except ImportError as missing:
    print(f"skipped: PyTorch Geometric is not installed ({missing})")
    sys.exit(SKIPPED)

NODES, EDGES, SEED = 150, 900, 11


def graph(generator):
    """Whose edges have numbers of their own, and whose seeds are in three masks."""
    data = Data(x=torch.rand(NODES, 8, generator=generator),
                edge_index=torch.unique(torch.randint(
                    0, NODES, (2, EDGES), generator=generator), dim=1),
                y=torch.randint(0, 4, (NODES,), generator=generator))
    data.edge_attr = torch.arange(data.num_edges, dtype=torch.float)[:, None]
    for number, name in enumerate(("train", "val", "test")):
        data[f"{name}_mask"] = torch.arange(NODES) % 3 == number
    return data


def typed_graph(generator):
    data = HeteroData()
    for name, count in ("paper", 90), ("author", 60):
        data[name].x = torch.rand(count, 8, generator=generator)
    data["paper"].y = torch.randint(0, 3, (90,), generator=generator)
    data["paper"].train_mask = torch.arange(90) % 2 == 0
    data["paper"].val_mask = ~data["paper"].train_mask
    for source, name, end in (("paper", "cites", "paper"),
                              ("author", "writes", "paper"),
                              ("paper", "written_by", "author")):
        data[source, name, end].edge_index = torch.unique(torch.stack([
            torch.randint(0, data[of].num_nodes, (400,), generator=generator)
            for of in (source, end)]), dim=1)
    return data


class Two(torch.nn.Module):
    """Two layers of PyG, trimmed or not."""

    def __init__(self, layer, trims=False):
        super().__init__()
        self.layers = torch.nn.ModuleList([layer(8, 8), layer(8, 5)])
        self.trims = trims

    def forward(self, data):
        x, edge_index = data.x, data.edge_index
        for number, layer in enumerate(self.layers):
            if self.trims:
                x, edge_index, _ = trim_to_layer(
                    number, data.num_sampled_nodes, data.num_sampled_edges, x,
                    edge_index)
            x = layer(x, edge_index).relu()
        return x


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = SAGEConv((-1, -1), 8), SAGEConv((-1, -1), 5)

    def forward(self, x, edge_index):
        return self.last(self.first(x, edge_index).relu(), edge_index)


class Pyg(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        print(f"PyG {torch_geometric.__version__}, torch {torch.__version__}")
        generator = torch.Generator().manual_seed(SEED)
        cls.graph, cls.typed = graph(generator), typed_graph(generator)
        cls.data, cls.typed_data = cls.top / "graph", cls.top / "typed"
        graphmill.import_(cls.graph, cls.data)
        graphmill.import_(cls.typed, cls.typed_data)

    def loader(self, data=None, fanouts=(4, 3), kind=graphmill.Loader, **options):
        loader = kind(data or self.data, fanouts, as_="pyg",
                      **{"batch_size": 16, **options})
        self.addCleanup(loader.close)
        return loader

    def test_a_cycle(self):
        """Of six nodes, each with its one neighbour before it."""
        cycle = Data(x=torch.eye(6), y=torch.arange(6) % 2,
                     edge_index=torch.stack([torch.arange(6),
                                             (torch.arange(6) + 1) % 6]))
        graphmill.import_(cycle, self.top / "cycle",
                          import_flags=["--split", "1,0,0"])
        for data in self.loader(self.top / "cycle", [-1, 1], seeds=[0, 3],
                                batch_size=1, shuffle=False):
            seed = int(data.n_id[0])
            self.assertEqual(data.n_id.tolist(),
                             [seed, (seed - 1) % 6, (seed - 2) % 6])
            self.assertEqual(data.edge_index.tolist(), [[1, 2], [0, 1]])
            self.assertEqual(data.x.argmax(1).tolist(), data.n_id.tolist())
            self.assertEqual((data.batch_size, data.num_nodes, data.num_edges),
                             (1, 3, 2))
            self.assertEqual(data.num_sampled_nodes, [1, 1, 1])
            self.assertEqual(data.num_sampled_edges, [1, 1])

    def test_attributes(self):
        seen = []
        for source in self.data, partitioned(self.data, 2, "random"):
            for data in self.loader(source, edge_ids=True, edge_attr=True):
                self.assertIsInstance(data, Data)
                self.assertTrue(data.validate())
                self.assertFalse(data.is_undirected())
                seeds = data.n_id[:data.batch_size]
                self.assertTrue(self.graph.train_mask[seeds].all())
                self.assertTrue(torch.equal(data.x, self.graph.x[data.n_id]))
                self.assertTrue(torch.equal(data.y, self.graph.y[seeds]))
                edges = data.n_id[data.edge_index]
                kept = data.edge_attr[:, 0].long()
                self.assertTrue(torch.equal(edges,
                                            self.graph.edge_index[:, kept]))
                self.assertEqual(sum(data.num_sampled_nodes), data.num_nodes)
                self.assertEqual(sum(data.num_sampled_edges), data.num_edges)
                seen += seeds.tolist()
        self.assertEqual(sorted(seen), sorted(
            2 * self.graph.train_mask.nonzero()[:, 0].tolist()))

    def test_all_neighbours(self):
        """The nodes and the outputs of the whole graph."""
        torch.manual_seed(SEED)
        for layer in GraphConv, SAGEConv:
            model, trimmed = Two(layer), Two(layer, trims=True)
            trimmed.load_state_dict(model.state_dict())
            with torch.no_grad():
                expected = model(self.graph)
                for data in self.loader(fanouts=[-1, -1], split="val"):
                    seeds = data.n_id[:data.batch_size]
                    nodes = k_hop_subgraph(seeds, 2, self.graph.edge_index)[0]
                    self.assertEqual(sorted(data.n_id.tolist()), nodes.tolist())
                    for each in model, trimmed:
                        torch.testing.assert_close(
                            each(data)[:data.batch_size], expected[seeds])

    def test_trimming_changes_no_output(self):
        torch.manual_seed(SEED)
        model, trimmed = Two(SAGEConv), Two(SAGEConv, trims=True)
        trimmed.load_state_dict(model.state_dict())
        for data in self.loader():
            count, made = data.batch_size, trimmed(data)
            self.assertEqual(len(made), sum(data.num_sampled_nodes[:2]))
            torch.testing.assert_close(made[:count], model(data)[:count])

    def test_several_types(self):
        torch.manual_seed(SEED)
        model = to_hetero(Plain(), self.typed.metadata())
        with torch.no_grad():
            expected = model(self.typed.x_dict, self.typed.edge_index_dict)["paper"]
        for data in self.loader(self.typed_data, [-1, -1], split="val",
                                edge_ids=True):
            self.assertIsInstance(data, HeteroData)
            self.assertTrue(data.validate())
            self.assertEqual(set(data.edge_types), set(self.typed.edge_types))
            for of in data.edge_types:
                ends = torch.stack([data[of[place]].n_id[data[of].edge_index[row]]
                                    for row, place in ((0, 0), (1, 2))])
                pairs = set(zip(*self.typed[of].edge_index.tolist()))
                self.assertLessEqual(set(zip(*ends.tolist())), pairs)
                self.assertEqual(len(data[of].e_id), data[of].num_edges)
            count = data["paper"].batch_size
            seeds = data["paper"].n_id[:count]
            self.assertTrue(torch.equal(data["paper"].y,
                                        self.typed["paper"].y[seeds]))
            with torch.no_grad():
                torch.testing.assert_close(
                    model(data.x_dict, data.edge_index_dict)["paper"][:count],
                    expected[seeds])

    def test_transforms(self):
        from torch_geometric.transforms import (Compose, NormalizeFeatures,
                                                ToUndirected)
        for data in self.loader(transform=Compose([ToUndirected(),
                                                   NormalizeFeatures()])):
            self.assertTrue(data.is_undirected())
            torch.testing.assert_close(data.x.sum(1), torch.ones(data.num_nodes))

    def test_a_batch_is_kept_and_moved(self):
        kept = [data.clone() for data in self.loader()]
        for data, again in zip(kept, self.loader_again(), strict=True):
            self.assertTrue(torch.equal(data.x, again.x))
            self.assertTrue(torch.equal(data.to("cpu").edge_index,
                                        again.edge_index))

    def loader_again(self):
        loader = self.loader()
        loader.set_epoch(0)
        return loader

    def test_links(self):
        data = self.top / "links"
        graphmill.import_(self.graph, data,
                          import_flags=["--split-edges", "0.8,0.1,0.1"])
        known = set(zip(*self.graph.edge_index.tolist()))
        for batch in self.loader(data, kind=graphmill.LinkLoader, negatives=2):
            pairs = batch.n_id[batch.edge_label_index]
            links = batch.edge_label == 1
            self.assertEqual(links.sum(), batch.batch_size)
            self.assertLessEqual(set(zip(*pairs[:, links].tolist())), known)
            self.assertTrue(batch.validate())
        for batch in self.loader(data, kind=graphmill.LinkLoader,
                                 negatives="triplet"):
            self.assertEqual(
                {len(batch[name]) for name in
                 ("src_index", "dst_pos_index", "dst_neg_index")},
                {batch.batch_size})

    def test_examples_of_pyg_learn(self):
        """Its own models, on a graph whose features tell the class."""
        from torch_geometric.nn import GraphSAGE
        data = self.graph.clone()
        data.x = torch.nn.functional.one_hot(data.y, 8).float()
        folder = self.top / "planted"
        graphmill.import_(data, folder)
        torch.manual_seed(SEED)
        model = GraphSAGE(8, 16, 2, 4)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        loader = self.loader(folder)
        for _ in range(15):
            for batch in loader:
                out = model(batch.x, batch.edge_index)[:batch.batch_size]
                loss = torch.nn.functional.cross_entropy(
                    out, batch.y[:batch.batch_size])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        right = count = 0
        model.eval()
        for batch in self.loader(folder, [-1, -1], split="test"):
            out = model(batch.x, batch.edge_index)[:batch.batch_size]
            right += int((out.argmax(1) == batch.y).sum())
            count += batch.batch_size
        self.assertGreater(right / count, 0.8)


if __name__ == "__main__":
    unittest.main()
