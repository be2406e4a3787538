"""Folders include only those that stand before them in the build.

The build names folders in an order (`subdir` in each meson.build, and the line
with a folder's own sources among them). That order is the map of the code: what
a file includes lies in its own folder or in one that comes earlier, so that
there are no circles. The tests mirror the folders.
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = ["messages", "partition", "pipelines", "actors"]
# Tests of everything together, and what tests share, with their sub-folders.
OWN_FOLDERS = ("tests/documents", "tests/fuzz", "tests/support", "tests/system",
               "tests/threads")

INCLUDE = re.compile(r'^#include "((?:%s|tests)/[^"]+)"' % "|".join(ROOMS))
SUBDIR = re.compile(r"^\s*subdir\('([^']+)'\)")


def folders(folder):
    """All folders of a room, in the order of its build."""
    own_sources_seen = False
    for line in (ROOT / folder / "meson.build").read_text().splitlines():
        inner = SUBDIR.match(line)
        if inner:
            yield from folders(f"{folder}/{inner.group(1)}")
        elif ".cpp'" in line and not own_sources_seen:
            own_sources_seen = True
            yield folder
    if not own_sources_seen:
        yield folder


def sources():
    return sorted(str(path.relative_to(ROOT)) for room in ROOMS + ["tests"]
                  for path in (ROOT / room).rglob("*.?pp"))


def folder_of(name):
    return name.rpartition("/")[0]


class Rooms(unittest.TestCase):
    def setUp(self):
        self.order = {folder: place for place, folder in enumerate(
            folder for room in ROOMS for folder in folders(room))}
        self.sources = sources()

    def test_every_folder_has_a_place(self):
        for name in self.sources:
            if not name.startswith("tests/"):
                self.assertIn(folder_of(name), self.order, name)

    def test_arrows_go_one_way(self):
        wrong = []

        def place(name):  # What has none comes last.
            return self.order.get(folder_of(name), len(self.order))
        for name in self.sources:
            text = (ROOT / name).read_text().splitlines()
            for number, line in enumerate(text, 1):
                found = INCLUDE.match(line)
                if not found or name.startswith("tests/"):
                    continue
                if place(found.group(1)) > place(name):
                    wrong.append(f"{name}:{number}: {line}")
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_nothing_below_knows_how_figures_are_shown(self):
        """What measures and keeps figures runs without HTTP and commands."""
        shows = [place for folder, place in self.order.items()
                 if folder.startswith(("actors/http", "actors/commands"))]
        for folder, place in self.order.items():
            if folder.startswith(("pipelines", "actors/cluster", "actors/run",
                                  "actors/launch")):
                self.assertLess(place, min(shows), folder)

    def test_tests_mirror_the_folders(self):
        for name in self.sources:
            folder = folder_of(name)
            if name.startswith("tests/") and not folder.startswith(OWN_FOLDERS):
                self.assertIn(folder.removeprefix("tests/"), self.order, name)

    def test_types_have_names_of_their_own(self):
        """The linker would take members of one type for those of the other."""
        types = re.compile(r"^(?:class|struct|enum class) (\w+)[^;]*$",
                           re.MULTILINE)
        where = {}
        for name in self.sources:
            if name.endswith(".hpp") and not name.startswith("tests/"):
                for found in types.findall((ROOT / name).read_text()):
                    where.setdefault(found, []).append(name)
        self.assertGreater(len(where), 500)
        twice = {found: names for found, names in where.items()
                 if len(names) > 1}
        self.assertFalse(twice)

    def test_no_code_asks_for_the_kind_of_a_task(self):
        """It asks the traits of the kind: `task_traits`, `edge_task_traits` and
        `label_traits`. Kernels of losses stand in a table by kind."""
        known = ("pipelines/task/", "pipelines/model/seed_losses.cpp")
        kind = re.compile(r"^[^/]*(?<!\w)(edge_task_kind|label_kind)::\w")
        named = [f"{name}:{number}: {line}" for name in self.sources
                 if name.startswith(("pipelines/", "actors/"))
                 and not name.startswith(known)
                 for number, line in enumerate(
                     (ROOT / name).read_text().splitlines(), 1)
                 if kind.match(line)]
        self.assertFalse(named, "\n" + "\n".join(named))


if __name__ == "__main__":
    unittest.main()
