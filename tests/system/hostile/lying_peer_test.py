"""A daemon that serves other rows than the dataset has: without checks it changes
what is learnt, with them the run fails and names it."""

import json
import pathlib
import shutil
import sys
import unittest

sys.path.insert(
    0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import support
from clusters import Cluster, ClusterWorkplace
from runs import SMALL, merged
from support import np

FEATURES = "part-1/nodes/node/features.npy"
# One trainer, at the honest daemon, so that rows cross between the two.
TRAINED = merged(SMALL, {"placement": {"trainers": ["honest"]}})


def checked(share, *more):
    return merged(TRAINED, {"fetch": {"verify": share}}, *more)


class LyingPeer(ClusterWorkplace):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # What the liar has: digests stay what they were.
        cls.forged = cls.top / "forged"
        shutil.copytree(cls.parts, cls.forged)
        features = np.load(cls.forged / FEATURES, mmap_mode="r+")
        features *= -1
        features.flush()

    def cluster(self, second):
        """Part 0 is at `honest`, part 1 of the folder `second` at `other`."""
        made = super().cluster([], "--no-verify")
        made.add("0", name="honest")
        made.add("1", name="other", data=second)
        made.await_daemons(2)
        return made

    def refused(self, cluster, definition, *name):
        """What a run says that fails."""
        path = self.write(definition, self.parts, *name)
        return cluster.refused("submit", path, "--watch", "--quiet")

    def checked_values(self, summary):
        return sum(stage["items"] for stage in summary["stages"]
                   if stage["stage"] == "wire: values checked")

    def test_honest_daemons_pass(self):
        cluster = self.cluster(self.parts)
        plain = cluster.run(self.write(TRAINED, self.parts))
        self.assertEqual(self.checked_values(plain), 0)
        all_of_them = cluster.run(self.write(checked(1), self.parts, "-all"))
        self.assertEqual(all_of_them["digest"], plain["digest"])
        few = cluster.run(self.write(checked(0.1), self.parts, "-few"))
        self.assertEqual(few["digest"], plain["digest"])
        self.assertGreater(self.checked_values(few), 0)
        self.assertLess(self.checked_values(few),
                        self.checked_values(all_of_them) / 3)
        rounded = cluster.run(self.write(
            checked(1, {"fetch": {"precision": "float16", "cache": 65536}}),
            self.parts, "-rounded"))
        self.assertGreater(self.checked_values(rounded), 0)

    def test_a_lie_changes_what_is_learnt_if_nothing_is_checked(self):
        cluster = self.cluster(self.forged)
        summary = cluster.run(self.write(TRAINED, self.parts))
        self.assertNotEqual(summary["digest"],
                            self.train(TRAINED, self.parts)["digest"])

    def check_named(self, definition):
        cluster = self.cluster(self.forged)
        said = self.refused(cluster, definition)
        self.assertIn('part 1 at daemon "other"', said)
        self.assertIn("nodes/node/features.npy, block ", said)
        self.assertIn("not in the dataset", said)
        # It is not used for the next run without a word.
        cluster.wait_until(
            lambda: cluster.states().get("other") == "damaged",
            "daemon that is not trusted")
        self.assertEqual(cluster.states()["honest"], "ready")
        note = next(daemon["note"] for daemon in cluster.status()["daemons"]
                    if daemon["name"] == "other")
        self.assertIn('it sent daemon "honest" what the dataset does not have',
                      note)
        self.assertIn("no daemon serves part 1",
                      self.refused(cluster, TRAINED, "-next"))

    def test_a_lie_is_found_and_the_liar_named(self):
        self.check_named(checked(1))

    def test_a_share_of_the_rows_is_enough(self):
        self.check_named(checked(0.05))

    def test_a_lie_does_not_get_into_the_cache(self):
        self.check_named(checked(1, {"fetch": {"cache": "1 MiB"}}))

    def test_a_dataset_without_digests_of_blocks(self):
        old = self.top / "old"
        shutil.copytree(self.parts, old)
        book = old / "partitions.json"
        about = json.loads(book.read_text())
        del about["block_digests"], about["own_digest"]
        book.write_text(json.dumps(about))
        for tree in old.rglob("*.blocks.npy"):
            tree.unlink()
        for file in old.rglob("part-*/dataset.json"):
            part = json.loads(file.read_text())
            part["array_digests"] = {
                name: digest for name, digest in part["array_digests"].items()
                if not name.endswith(".blocks.npy")}
            file.write_text(json.dumps(part))
        with Cluster(self.top / "old-cluster", old, ["0", "1"]) as cluster:
            said = cluster.refused(
                "submit", self.write(checked(0.5, {"placement": {
                    "trainers": ["d0"]}}), old))
            self.assertIn("no digests of blocks", said)
            cluster.run(self.write(SMALL, old, "-plain"))

    def test_a_run_of_one_process_has_nobody_to_check(self):
        plain = self.train(TRAINED, self.parts)
        self.assertEqual(self.train(checked(1), self.parts)["digest"],
                         plain["digest"])


if __name__ == "__main__":
    support.program()
    unittest.main()
