"""The tables of attacks name tests that there are, and every test of attacks."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTILE = ROOT / "tests" / "system" / "hostile"
# Show what is needed to trust the others, not an attack.
CONTROLS = {
    "test_honest_daemons_pass",
    "test_a_dataset_without_digests_of_blocks",
    "test_a_run_of_one_process_has_nobody_to_check",
    "test_sound_data_fit_into_that_memory",
}


class Attacks(unittest.TestCase):
    def test_tests_that_are_named(self):
        """Under the heading of each file."""
        page = (HOSTILE / "README.md").read_text()
        named = {}
        for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
            file = re.search(r"`(\w+_test\.py)`", part.split("\n")[0])
            self.assertTrue(file, part.split("\n")[0])
            named[file.group(1)] = set(re.findall(r"`(test_\w+)`", part))
        there = {path.name: set(re.findall(r"def (test_\w+)",
                                           path.read_text())) - CONTROLS
                 for path in HOSTILE.glob("*_test.py")}
        self.assertEqual(named, there)


if __name__ == "__main__":
    unittest.main()
