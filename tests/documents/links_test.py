"""Links between pages lead to a file and a heading. Paths of files in code, such as
`actors/stages/dispatcher.hpp`, exist. Options of commands in pages exist."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = "actors", "messages", "pipelines", "partition", "tests", "examples"
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
NAMED = re.compile(rf"`((?:{'|'.join(ROOMS)})/[\w./-]+\.\w+)`")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def pages():
    for path in ROOT.rglob("*.md"):
        if not path.relative_to(ROOT).parts[0].startswith((".", "build")):
            yield path


def anchors(page):
    """Of all headings, as hosts of repositories make them."""
    text = BLOCK.sub("", page.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in HEADING.findall(text)}


class Links(unittest.TestCase):
    def test_links(self):
        checked = 0
        for page in pages():
            for target, anchor in LINK.findall(BLOCK.sub("", page.read_text())):
                if "://" in target:
                    continue
                checked += 1
                path = page.parent / target if target else page
                with self.subTest(page=page.name, target=target, anchor=anchor):
                    self.assertTrue(path.exists())
                    if anchor and path.suffix == ".md":
                        self.assertIn(anchor, anchors(path))
        self.assertGreater(checked, 5)

    def test_files_that_are_named(self):
        for page in pages():
            for target in NAMED.findall(page.read_text()):
                with self.subTest(page=page.name, target=target):
                    self.assertTrue((ROOT / target).exists())

    def test_pages_are_installed(self):
        """Examples are, as a folder."""
        build = (ROOT / "meson.build").read_text()
        for page in pages():
            name = str(page.relative_to(ROOT))
            if not name.startswith("examples/") or "packaging" in name:
                self.assertIn(f"  '{name}',\n", build)

    def test_options_that_are_named(self):
        """In code and blocks of the guide, the README and the recipes."""
        sources = "".join(path.read_text() for room in ("actors", "examples")
                          for path in (ROOT / room).rglob("*")
                          if path.suffix in (".cpp", ".hpp", ".py", ".sh"))
        known = set(re.findall(r"--([a-z][\w-]+)", sources))
        foreign = {  # Of other programs.
            "append", "buildtype", "forward", "logdir", "nodes", "ntasks",
            "no-rebuild", "prefix", "unity"}
        for page in [ROOT / "README.md", *(ROOT / "examples").glob("*.md"),
                     *(ROOT / "examples/guide").glob("*.md")]:
            found = set(re.findall(r"(?<![\w-])--([a-z][\w-]+)", page.read_text()))
            self.assertLessEqual(found - foreign, known, page.name)


if __name__ == "__main__":
    unittest.main()
