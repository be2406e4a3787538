"""What tests of imports share: where they work, and a small source."""

import csv
import json
import pathlib
import shutil
import tempfile
import unittest

from support import graphmill, imported, np, sorted_by_destination


def write_table(path, header, columns):
    with open(path, "w", newline="") as table:
        lines = csv.writer(table, lineterminator="\n")
        lines.writerow(header)
        lines.writerows(zip(*columns))


def rows_of(path):
    """Of a table with a header: each as a dictionary of texts."""
    with open(path, newline="") as table:
        return list(csv.DictReader(table))


class Workplace(unittest.TestCase):
    """A temporary folder per test; `self.out` is where imports go."""

    def setUp(self):
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="graphmill-"))
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        self.source = self.top / "source"
        self.source.mkdir()
        self.results = self.top / "results"
        self.results.mkdir()
        self.out = self.results / "set"

    def check_edges(self, dataset, edge_type, edges, sizes):
        """`edges` [2, E] must be what is stored, with the right degrees."""
        np.testing.assert_array_equal(dataset.edges(edge_type),
                                      sorted_by_destination(edges))
        for name, row, size in (("in_degrees", 1, sizes[1]),
                                ("out_degrees", 0, sizes[0])):
            np.testing.assert_array_equal(
                dataset.edge_array(edge_type, name),
                np.bincount(edges[row], minlength=size))

    def check_fails(self, arguments, *fragments):
        """One clear sentence, exit code not 0, nothing left behind."""
        shutil.rmtree(self.out, ignore_errors=True)
        done = graphmill("import", *arguments, "--quiet", "--out", self.out)
        self.assertNotEqual(done.returncode, 0, arguments)
        lines = done.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertTrue(lines[0].startswith("graphmill: "), lines[0])
        for fragment in fragments:
            self.assertIn(fragment, lines[0])
        self.assertEqual(done.stdout, "")
        self.assertEqual(list(self.results.iterdir()), [])

    def taken(self, arguments):
        """Imports anew and returns the summary."""
        shutil.rmtree(self.out, ignore_errors=True)
        done = graphmill("import", *arguments, "--quiet", "--json", "--out",
                         self.out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout.splitlines()[-1])


def save(folder, **arrays):
    for name, values in arrays.items():
        np.save(folder / f"{name}.npy", values)


def sixty_nodes(top, name, names=None, *flags, **labels):
    """Imports always the same graph of 60 nodes with 5 features as `name`, with
    these labels and splits, if any, and names of classes; returns its folder."""
    source = top / f"{name}-source"
    source.mkdir()
    rng = np.random.default_rng(7)
    save(source, edges=rng.integers(0, 60, (2, 400)),
         features=rng.normal(size=(60, 5)).astype(np.float32), **labels)
    (source / "meta.json").write_text(json.dumps(
        {"num_nodes": 60, **({"class_names": names} if names else {})}))
    imported("npy", source, *flags, "--out", top / name)
    return top / name


def small_set(folder):
    """Writes a random graph of 40 nodes and returns its arrays."""
    rng = np.random.default_rng(11)
    edges = rng.integers(0, 40, (2, 300))
    arrays = {
        "edges": edges,
        "features": rng.normal(size=(40, 5)).astype(np.float32),
        "labels": rng.integers(0, 3, 40),
        "train_idx": np.array([7, 3, 5, 0, 1]),
        "val_idx": np.array([9, 8]),
        "test_idx": np.arange(20, 40),
    }
    save(folder, **arrays)
    (folder / "meta.json").write_text(json.dumps(
        {"name": "small", "num_nodes": 40, "num_classes": 3,
         "num_features": 5}))
    return arrays
