"""Names of edge types: by a relation alone, whatever its rows' order, and
kept beside what they stand for."""

import json
import pathlib
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from imports import Workplace
from runs import partitioned
from support import Dataset, graphmill

PLUS, RELATIVE = "+1", "/people/person/nationality"
NAMES = {PLUS: "1--4f895056dd23",
         RELATIVE: "people-person-nationality--633e36fbc881"}


class Relations(Workplace):

    def edges_by_relation(self, relations):
        """Imports one edge a -> b for each relation; returns the middle names
        of edge types, by what they stand for."""
        path = self.source / "e.csv"
        path.write_text("head,sign,tail\n" + "".join(
            f"a,{relation},b{i}\n" for i, relation in enumerate(relations)))
        self.taken(["csv", "--edges", path, "--relation", "sign"])
        info = Dataset(self.out).info
        names = [f"node__{t['name']}__node" for t in info["edge_types"]]
        originals = self.originals(self.out)
        self.assertEqual([originals.get(name, name.split("__")[1])
                          for name in names], relations)
        return dict(zip(relations, (name.split("__")[1] for name in names)))

    def originals(self, folder):
        path = folder / "original_names.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def test_the_order_of_rows_changes_no_name(self):
        for relations in (["1", "-1", PLUS, RELATIVE, "x" * 100],
                          ["gehört zu", "gehört-zu", "gehort zu", "_is",
                           "is", "is_", "中文", "+", "-", "."]):
            names = self.edges_by_relation(relations)
            self.assertEqual(self.edges_by_relation(relations[::-1]), names)
            self.assertEqual(len(set(names.values())), len(relations))
            for relation, name in NAMES.items():
                self.assertIn(names.get(relation, name), name)

    def test_a_relation_that_can_be_a_name_is_one(self):
        for relation, name in self.edges_by_relation(
                ["is", "-1", "1", "has-a", "film.actor"]).items():
            self.assertEqual(name, relation)
        self.assertFalse((self.out / "original_names.json").exists())

    def test_a_relation_that_is_called_like_a_derived_name(self):
        names = self.edges_by_relation([NAMES[PLUS], PLUS])
        self.assertEqual(names[PLUS], NAMES[PLUS])
        self.assertNotEqual(names[NAMES[PLUS]], NAMES[PLUS])

    def test_names_are_shown_and_kept(self):
        self.edges_by_relation([PLUS, "is"])
        of = {f"node__{NAMES[PLUS]}__node": PLUS}
        self.assertEqual(self.originals(self.out), of)
        self.assertEqual(
            self.originals(partitioned(self.out, 2, "random")), of)
        told = json.loads(graphmill("inspect", self.out, "--json",
                                    "--quiet").stdout)
        self.assertEqual([edges.get("original_name")
                          for edges in told["edge_types"]], [PLUS, None])
        self.assertIn(f'{NAMES[PLUS]}__node: 1 edges, "{PLUS}" in the source',
                      graphmill("inspect", self.out, "--quiet").stdout)

    def test_reverse_edges(self):
        path = self.source / "e.csv"
        path.write_text(f"head,sign,tail\na,{PLUS},b\n")
        self.taken(["csv", "--edges", path, "--relation", "sign", "--reverse"])
        self.assertEqual(self.originals(self.out), {
            f"node__{NAMES[PLUS]}__node": PLUS,
            f"node__rev_{NAMES[PLUS]}__node": f"rev_{PLUS}"})


if __name__ == "__main__":
    support.program()
    unittest.main(verbosity=2)
