"""Every harness is registered, and on the page that says what each of them feeds."""

import pathlib
import re
import unittest

FUZZ = pathlib.Path(__file__).resolve().parents[2] / "tests" / "fuzz"
DEFINED = re.compile(r'^const harness (\w+)\{\s*"(\w+)"', re.MULTILINE)


class Harnesses(unittest.TestCase):
    def test_harnesses(self):
        named, defined = {}, set()
        for file in (FUZZ / "harnesses").glob("*.cpp"):
            for variable, name in DEFINED.findall(file.read_text()):
                named.setdefault(file.name, set()).add(name)
                defined.add(variable)
        self.assertEqual(
            set(re.findall(r"\b\w+_harness\b",
                           (FUZZ / "harnesses.cpp").read_text())), defined)
        page = (FUZZ / "README.md").read_text()
        rows = {file: set(re.findall(r"`(\w+)`", names)) for file, names in
                re.findall(r"^\| \[(\w+\.cpp)\]\S+ \| ([^|]+) \|", page,
                           re.MULTILINE)}
        self.assertEqual(rows, named)


if __name__ == "__main__":
    unittest.main()
