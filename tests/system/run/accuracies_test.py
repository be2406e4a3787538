"""The script that repeats published accuracies, on small graphs: which runs it
makes, and what it tells of them."""

import json
import pathlib
import statistics
import subprocess
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "examples"))
import link_examples
import plain_gat
import plain_rgcn
import runs
from accuracies import EXAMPLES, standard_error, words_as_nodes
from imports import save
from link_examples import LINK_EXAMPLES
from support import ROOT, np, program

NODES, WIDTH, CLASSES = 60, 11, 3
SHORT = ["--set", "train.epochs=2", "--set", "train.patience=0"]


class Accuracies(runs.Workplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = np.random.default_rng(6)
        cls.dense = (rng.random((NODES, WIDTH)) < 0.3).astype(np.float32)
        cls.sources = cls.top / "sources"
        links = rng.integers(0, NODES, (2, 200))
        about = {"num_nodes": NODES, "num_features": WIDTH,
                 "num_classes": CLASSES}
        cls.write_source("cora", "", {"edges": links}, about)
        cls.write_source("imdb", "movie.", {
            "movie__to__actor.edges":
                rng.integers(0, [[NODES], [9]], (2, 80))},
            {"node_types": {"movie": about, "actor": {"num_nodes": 9}}})

    @classmethod
    def write_source(cls, name, begin, edges, meta):
        """Features are compressed rows."""
        folder = cls.sources / name
        folder.mkdir(parents=True)
        rows, columns = np.nonzero(cls.dense)
        counts = np.bincount(rows, minlength=NODES)
        save(folder, **edges, **{f"{begin}{key}": array for key, array in {
            "labels": np.arange(NODES) % CLASSES,
            "train_idx": np.arange(20), "val_idx": np.arange(20, 30),
            "test_idx": np.arange(30, NODES),
            "features_indptr": np.concatenate([[0], np.cumsum(counts)]),
            "features_indices": columns.astype(np.int32),
            "features_values": cls.dense[rows, columns]}.items()})
        (folder / "meta.json").write_text(json.dumps(meta))

    def call(self, sources, *arguments):
        return subprocess.run(
            ["/usr/bin/python3", "-B", ROOT / "examples/accuracies.py",
             sources, "--program", program(), *SHORT, *arguments],
            text=True, capture_output=True, timeout=runs.PATIENCE_SECONDS)

    def script(self, *arguments):
        done = self.call(self.sources, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_every_example(self):
        done = self.script("--seeds", "2", "--json")
        told = json.loads(done.stdout)
        self.assertEqual(told["seeds"], 2)
        self.assertEqual(
            [one["name"] for one in told["examples"]],
            [example[0] for example in EXAMPLES
             if not example[1].startswith("citeseer")])
        for one in told["examples"]:
            with self.subTest(one["name"]):
                shares = one["accuracies"]
                self.assertEqual(len(shares), 2)
                for share in shares:  # Of the 30 test nodes.
                    self.assertAlmostEqual(share * 0.3, round(share * 0.3), 6)
                self.assertAlmostEqual(one["mean"], sum(shares) / 2)
                self.assertAlmostEqual(one["deviation"],
                                       statistics.stdev(shares))
        self.assertEqual([one["name"] for one in told["links"]], ["gae-cora"])
        for area, average in told["links"][0]["values"]:
            self.assertTrue(0 <= area <= 100 and 0 < average <= 100)
        lacking = [name for name, source, *_ in EXAMPLES
                   if source.startswith("citeseer")]
        lacking += [one.name for one in LINK_EXAMPLES if one.source != "cora"]
        for name in lacking:
            self.assertIn(f"left out: {name}, for there is no", done.stderr)

    def test_means_of_nodes(self):
        """What stands beside numbers of edges."""
        data = self.top / "trust"
        rows = {"train": ([[0, 1], [0, 2], [1, 2]], [3., 1., 5.]),
                "val": ([[0, 1]], [1.]), "test": ([[0, 2], [3, 3]], [2., 4.])}
        (data / "tasks/edge_value").mkdir(parents=True)
        for split, (edges, labels) in rows.items():
            save(data / "tasks/edge_value", **{
                f"{split}.edges": np.array(edges),
                f"{split}.labels": np.array(labels)})
        # The mean is 3; node 0 gives -1 in all, and node 2 gets 0, over 2 + 3.
        guess = link_examples.by_means(
            data, {split: np.array(labels)
                   for split, (_, labels) in rows.items()})
        np.testing.assert_allclose(guess, [3 - 2 / 5, 3])
        error = [0.6 ** 2, 1]
        np.testing.assert_allclose(
            link_examples.value_by_means(data),
            [np.mean(error) ** 0.5, 1 - sum(error) / 2])

    def test_most_popular(self):
        """What stands beside recommendations, of the best two."""
        data = self.top / "listening"
        (data / "tasks/link").mkdir(parents=True)
        for split, edges in {
                "train": [[0, 0], [1, 0], [2, 0], [0, 1], [1, 1], [0, 2]],
                "val": [[2, 1]], "test": [[1, 3], [1, 2], [2, 3], [3, 0]]
                }.items():
            save(data / "tasks/link", **{f"{split}.edges": np.array(edges)})
        # User 1 gets 2 and 3, both rightly; 2 gets 2 and 3, one rightly and in
        # the second place; 3 gets 0 and 1, one rightly and first.
        recall, gain = link_examples.most_popular(data, 2)
        self.assertAlmostEqual(recall, 1)
        self.assertAlmostEqual(gain, (1 + 1 / np.log2(3) + 1) / 3)

    def test_links_by_rules(self):
        """What stands beside links of the future, among 100 others."""
        data = self.top / "linked"
        (data / "tasks/link").mkdir(parents=True)
        for split, edges in {"train": [[0, 1], [2, 1], [3, 2]],
                             "val": [[4, 5]],
                             "test": [[0, 1], [6, 1], [5, 4]]}.items():
            save(data / "tasks/link", **{f"{split}.edges": np.array(edges)})
        # A pair that was there comes first, and one that was not ties with 100.
        self.assertAlmostEqual(link_examples.edge_bank(data)[0],
                               (1 + 2 / 51) / 3)
        # Of all destinations, 1 got most, and 4 nothing.
        popular = link_examples.most_linked(data)[0]
        self.assertGreater(popular, 2 / 3)
        self.assertLess(popular, (2 + 0.1) / 3)
        # The last row answers that of val.
        self.assertAlmostEqual(link_examples.answers_first(data)[0], 1)

    def test_area(self):
        self.assertEqual(link_examples.area(
            np.array([1, 2, 2, 3.]), np.array([0, 1, 0, 1], bool)), 3.5 / 4)

    def test_next_ratings(self):
        """Each way to see the past, of each kind of rows; a leak tells all."""
        folder = self.top / "ratings/bitcoin_otc"
        folder.mkdir(parents=True)
        rng = np.random.default_rng(8)
        (folder / "ratings.csv").write_text("from,to,feature,time\n" + "".join(
            f"{a},{b},{value},{1289241900 + second}.5\n"
            for second, (a, b, value) in enumerate(zip(
                rng.integers(0, 150, 600), rng.integers(0, 150, 600),
                rng.choice([-3, 5], 600)))))
        told = {}
        for what, epochs in ("", 12), ("-sign", 12), ("-links", 30):
            names = [f"bitcoin-otc-next{what}{how}" for how in
                     ("", "-bare", "-untimed", "-untimed-bare", "-leak")]
            done = self.call(folder.parent, "--only", *names, "--seeds", "1",
                             "--json", "--set", f"train.epochs={epochs}",
                             "--set", "optimizer.learning_rate=0.03")
            self.assertEqual(done.returncode, 0, done.stderr)
            links = json.loads(done.stdout)["links"]
            self.assertEqual([one["name"] for one in links], names)
            told.update({one["name"]: one["values"][0] for one in links})
        self.assertEqual(list(told), [
            one.name for one in LINK_EXAMPLES
            if one.name.startswith("bitcoin-otc-next")])
        # Values and pairs are drawn by chance.
        self.assertGreater(told["bitcoin-otc-next-leak"][1], 0.5)
        self.assertGreater(told["bitcoin-otc-next-sign-leak"][0], 90)
        self.assertGreater(told["bitcoin-otc-next-links-leak"][0], 0.25)
        for how in ("", "-bare", "-untimed", "-untimed-bare"):
            self.assertLess(told[f"bitcoin-otc-next{how}"][1], 0.2)
            self.assertLess(told[f"bitcoin-otc-next-sign{how}"][0], 75)
            self.assertLess(told[f"bitcoin-otc-next-links{how}"][0], 0.12)

    def test_plain(self):
        """The R-GCN and the GraphSAGE of NumPy alone, trained on the same
        datasets."""
        done = self.script("--seeds", "2", "--only", "rgcn-imdb",
                           "sage-full-cora", "--plain", "--json")
        for one in json.loads(done.stdout)["examples"]:
            with self.subTest(one["name"]):
                self.assertEqual(len(one["plain"]), 2)
                for share in one["plain"]:  # Of the 30 test nodes.
                    self.assertAlmostEqual(share * 0.3, round(share * 0.3), 6)
                mean = statistics.mean(one["plain"])
                self.assertAlmostEqual(one["reference"], mean)
                self.assertRegex(one["whose"],
                                 rf"^plain_rgcn.py: {mean:.1f} \+- \d")

    def test_plain_decay(self):
        """Of the layers that are named alone, by the first step."""
        graph = plain_rgcn.Graph(Films(np.random.default_rng(4)))
        kept = {}
        for decays in (("1.",), ("1.", "2.")):
            how = plain_rgcn.Training(epochs=1, patience=0, decays=decays)
            kept[decays] = plain_rgcn.trained(graph, 1, how)[0].values
        changed = {name for name, values in kept["1.",].items()
                   if not np.array_equal(values, kept["1.", "2."][name])}
        self.assertEqual({name[:2] for name in changed}, {"2."})

    def test_difference(self):
        one = {"accuracies": [1., 3.], "plain": [2., 2., 5.]}
        self.assertAlmostEqual(standard_error(one), (2 / 2 + 3 / 3) ** 0.5)

    def test_in_words(self):
        done = self.script("--seeds", "1", "--only", "gcn-cora")
        self.assertRegex(
            done.stdout, r"^gcn-cora +\d+\.\d \+- 0\.0  beside 81\.5 "
            r"\(Kipf and Welling, ICLR'17\)  cora\.yaml\n$")

    def test_refusals(self):
        damaged = self.top / "damaged"
        (damaged / "cora").mkdir(parents=True)
        for sources, more, said in (
                (self.sources, ["--program", self.top / "nothing"],
                 "cannot start .*/nothing: No such file or directory; "),
                (self.top, [], " has none of the graphs"),
                (damaged, ["--only", "gcn-cora"],
                 "graphmill import failed: 1"),
                (damaged, ["--only", "rgcn-cora-words"],
                 "damaged/cora is not as `graphmill import npy` reads it")):
            with self.subTest(said):
                done = self.call(sources, *more)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, said)
                self.assertNotIn("Traceback", done.stderr)

    def test_words_become_nodes(self):
        out = self.top / "words"
        words_as_nodes(self.sources / "imdb", out)
        made = np.zeros((NODES, WIDTH), np.float32)
        made[tuple(np.load(out / "movie__has__word.edges.npy"))] = 1
        np.testing.assert_array_equal(made, self.dense)
        self.assertEqual(json.loads((out / "meta.json").read_text()), {
            "node_types": {"word": {"num_nodes": WIDTH},
                           "movie": {"num_nodes": NODES,
                                     "num_classes": CLASSES},
                           "actor": {"num_nodes": 9}}})
        self.assertEqual(list(out.glob("*features*")), [])


class Films:
    """A dataset as `Folder` reads it: movies with features, actors without."""
    info = {"target": "movie", "node_types": [{"name": "movie", "count": 7},
                                              {"name": "actor", "count": 4}]}

    def __init__(self, rng):
        self.rows = rng.normal(size=(7, 3)) * (rng.random((7, 3)) < 0.6)
        self.links = rng.integers(0, [[7], [4]], (2, 12))

    def edge_types(self):
        return ["movie__to__actor", "actor__rev_to__movie",
                "movie__like__movie"]

    def edges(self, name):
        return {"movie__to__actor": self.links,
                "actor__rev_to__movie": self.links[::-1],
                "movie__like__movie": np.array([[0, 1, 5], [2, 2, 6]])}[name]

    def features(self, name):
        return self.rows if name == "movie" else None

    def node_array(self, name, array):
        return {"labels": np.arange(7) % 3, "train": np.array([0, 2, 4, 5]),
                "val": np.array([1]), "test": np.array([3, 6])}[array]


class Papers:
    """A dataset as `Folder` reads it: one type, of which one node has no edges
    and another no features."""
    info = {"node_types": [{"name": "paper", "count": 7}]}

    def __init__(self, rng):
        self.rows = rng.normal(size=(7, 5)) * (rng.random((7, 5)) < 0.6)
        self.rows[2] = 0
        self.links = rng.integers(0, 6, (2, 12))

    def edge_types(self):
        return ["paper__cites__paper"]

    def edges(self, name):
        return self.links

    def features(self, name):
        return self.rows

    node_array = Films.node_array


class PlainGradients(unittest.TestCase):
    def check(self, model, rng):
        """In a random direction of each array, without dropout. No kink of an
        activation is so near."""
        for values in model.values.values():
            values[:] = rng.normal(size=values.shape)
        _, gradients = model.loss_and_gradients(False)
        self.assertEqual(set(gradients), set(model.values))
        for name, values in model.values.items():
            with self.subTest(name):
                self.assertEqual(gradients[name].shape, values.shape)
                direction = rng.normal(size=values.shape)
                values += 1e-6 * direction
                above, _ = model.loss_and_gradients(False)
                values -= 2e-6 * direction
                below, _ = model.loss_and_gradients(False)
                values += 1e-6 * direction
                want = (above - below) / 2e-6
                self.assertAlmostEqual((gradients[name] * direction).sum(),
                                       want, delta=1e-6 * (1 + abs(want)))

    def test_rgcn(self):
        rng = np.random.default_rng(3)
        self.check(plain_rgcn.Model(plain_rgcn.Graph(Films(rng)), 1), rng)

    def test_gat(self):
        rng = np.random.default_rng(4)
        self.check(plain_gat.Model(plain_gat.Graph(Papers(rng)), 1), rng)

    def test_gat_with_dropout(self):
        """With the same draws again and again."""
        rng = np.random.default_rng(5)
        model = plain_gat.Model(plain_gat.Graph(Papers(rng)), 1, True)
        honest = model.loss_and_gradients

        def drawn(training):
            model.rng = np.random.default_rng(6)
            return honest()

        model.loss_and_gradients = drawn
        self.check(model, rng)


if __name__ == "__main__":
    program()
    unittest.main()
