"""Links between the pages of the repository lead somewhere, and so do the paths
of files that pages name in code, as `actors/stages/dispatcher.hpp`."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = "actors", "messages", "pipelines", "partition", "tests", "examples"
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
NAMED = re.compile(rf"`((?:{'|'.join(ROOMS)})/[\w./-]+\.\w+)`")


def pages():
    for path in ROOT.rglob("*.md"):
        if not path.relative_to(ROOT).parts[0].startswith((".", "build")):
            yield path


class Links(unittest.TestCase):
    def test_links(self):
        checked = 0
        for page in pages():
            for target in LINK.findall(page.read_text()):
                if "://" in target:
                    continue
                checked += 1
                with self.subTest(page=page.name, target=target):
                    self.assertTrue((page.parent / target).exists())
        self.assertGreater(checked, 5)

    def test_files_that_are_named(self):
        for page in pages():
            for target in NAMED.findall(page.read_text()):
                with self.subTest(page=page.name, target=target):
                    self.assertTrue((ROOT / target).exists())


if __name__ == "__main__":
    unittest.main()
