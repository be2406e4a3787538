"""The web page's files: small, without anything from elsewhere or inline, with
names set as text alone, in folders that import one way, and in colours that can
be read on what they stand on."""

import pathlib
import re
import unittest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "actors" / "http" / "page"
MOST_LINES = 400
MOST_FILES = 10  # In a folder.
WRITTEN = "data/figures.js"  # By the program, of the table of figures.
KINDS = (".html", ".css", ".js", ".svg")
IMPORT = re.compile(r'(?:from|import)\s*\(?\s*"([^"]+)"')
TEXT_CONTRAST = 4.5  # WCAG 2.2, 1.4.3, of text;
SHAPE_CONTRAST = 3.0  # 1.4.11, of what shows a state.

SURFACES = ("paper", "card", "sunk")
TINTS = ("good-tint", "warn-tint", "bad-tint", "calm-tint", "idle-tint")
TONES = ("good", "warn", "bad", "calm", "accent")
SERIES = tuple(f"series-{number}" for number in range(1, 7))


def files(*kinds):
    return sorted(path for path in PAGE.rglob("*") if path.suffix in kinds)


def folders():
    """In the order of the build, the page's own last."""
    build = (PAGE / "meson.build").read_text()
    return [PAGE / name for name in re.findall(r"^subdir\('([^']+)'\)$", build,
                                               re.MULTILINE)] + [PAGE]


def imported():
    """Which module imports which other one."""
    for path in files(".js"):
        for name in IMPORT.findall(path.read_text()):
            yield path, (path.parent / name).resolve()


def colours():
    """Of both schemes, by name."""
    text = (PAGE / "page.css").read_text()
    light, dark = re.findall(r":root \{(.*?)\}", text, re.DOTALL)[:2]
    found = [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", part))
             for part in (light, dark)]
    return {"light": found[0], "dark": found[1]}


def luminance(colour):
    """Relative, as WCAG defines it."""
    def linear(part):
        part /= 255
        return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
    red, green, blue = (linear(int(colour[at:at + 2], 16)) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def pairs():
    """What stands on what, and the least contrast."""
    for surface in SURFACES + TINTS:
        for ink in ("ink", "soft"):
            yield ink, surface, TEXT_CONTRAST
    for surface in SURFACES:
        for tone in TONES:
            yield tone, surface, TEXT_CONTRAST
        yield "edge", surface, SHAPE_CONTRAST
    for tone in ("good", "warn", "bad", "calm"):
        yield tone, f"{tone}-tint", TEXT_CONTRAST
    for line in SERIES:
        for surface in ("card", "sunk"):
            yield line, surface, SHAPE_CONTRAST


class Colours(unittest.TestCase):
    def test_the_measure(self):
        self.assertAlmostEqual(contrast("#000000", "#ffffff"), 21)
        self.assertAlmostEqual(contrast("#777777", "#ffffff"), 4.48, 2)

    def test_all_can_be_read(self):
        for scheme, known in colours().items():
            self.assertEqual(set(known), set(colours()["light"]))
            for ink, surface, least in pairs():
                self.assertGreaterEqual(
                    contrast(known[ink], known[surface]), least,
                    f"{scheme}: {ink} on {surface}")

    def test_no_other_colours(self):
        """Whatever is coloured takes a colour that is checked above."""
        checked = {name for ink, surface, _ in pairs() for name in (ink, surface)}
        for path in files(".css"):
            text = path.read_text()
            outside = re.sub(r":root \{.*?\}", "", text, flags=re.DOTALL)
            self.assertEqual(re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[;\s])", outside),
                             [], path.name)
            self.assertLessEqual(set(re.findall(r"var\(--([\w-]+)\)", outside)),
                                 checked | {"line"}, path.name)


class Files(unittest.TestCase):
    def test_are_small(self):
        found = files(".html", ".css", ".js")
        self.assertGreater(len(found), 10)
        for path in found:
            self.assertLess(len(path.read_text().splitlines()), MOST_LINES,
                            path.name)

    def test_nothing_from_elsewhere(self):
        allowed = "http://www.w3.org/2000/svg"  # A name, not an address.
        for path in files(*KINDS):
            text = path.read_text().replace(allowed, "")
            self.assertNotRegex(text, r"https?://|@import|[\"'(]//", path.name)

    def test_nothing_inline(self):
        """As the Content-Security-Policy wants it."""
        text = (PAGE / "index.html").read_text()
        self.assertNotRegex(text, r"<style|\sstyle=|\son[a-z]+=|javascript:")
        for script in re.findall(r"<script[^>]*>.*?</script>", text, re.DOTALL):
            self.assertRegex(script, r'^<script type="module" src="[^"]+">'
                                     r"</script>$")

    def test_names_are_set_as_text(self):
        for path in files(".js"):
            self.assertNotRegex(
                path.read_text(),
                r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|"
                r"new Function|DOMParser|setAttribute\(.style", path.name)

    def test_all_that_is_named_is_there(self):
        named = {PAGE / name for name in
                 re.findall(r'(?:src|href)="/page/([^"]+)"',
                            (PAGE / "index.html").read_text())}
        self.assertGreater(len(named), 2)
        named |= {module for _, module in imported()}
        self.assertGreater(len(named), 10)
        self.assertLessEqual(named - {PAGE / WRITTEN}, set(files(*KINDS)))

    def test_modules_are_named_by_relative_paths(self):
        """So that each comes from /page/, wherever the page stands."""
        for path in files(".js"):
            for name in IMPORT.findall(path.read_text()):
                self.assertRegex(name, r"^\.\.?/(\w+/)?\w+\.js$", path.name)

    def test_imports_go_one_way(self):
        order = folders()
        for path, module in imported():
            self.assertLessEqual(order.index(module.parent),
                                 order.index(path.parent),
                                 f"{path.relative_to(PAGE)} imports "
                                 f"{module.relative_to(PAGE)}")

    def test_folders_are_small_and_say_what_they_are_for(self):
        self.assertEqual(set(folders()), {path.parent for path in files(*KINDS)})
        for folder in folders():
            there = [path for path in files(*KINDS) if path.parent == folder]
            self.assertLessEqual(len(there), MOST_FILES, folder.name)
            self.assertRegex((folder / "meson.build").read_text(), r"^# [A-Z]")

    def test_all_become_a_part_of_the_program(self):
        for folder in folders():
            build = (folder / "meson.build").read_text()
            listed = re.search(r"page_listed \+= files\((.*?)\)", build, re.DOTALL)
            self.assertEqual(re.findall(r"'([^']+)'", listed.group(1)),
                             [path.name for path in files(*KINDS)
                              if path.parent == folder], folder.name)


if __name__ == "__main__":
    unittest.main()
