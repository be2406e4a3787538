"""The first command of the README makes the dataset that its definition is on."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Quickstart(unittest.TestCase):
    def test_dataset(self):
        script = (ROOT / "examples/quickstart.sh").read_text()
        made = re.search(r"import wordnet --name (\S+) ", script)
        self.assertIsNotNone(made)
        named = re.search(r"examples/\w+\.yaml", script)
        definition = (ROOT / named.group()).read_text()
        self.assertEqual(
            re.search(r"^dataset: *(\S+)", definition, re.MULTILINE).group(1),
            made.group(1))


if __name__ == "__main__":
    unittest.main()
