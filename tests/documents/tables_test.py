"""Tables of the pages have all that there is: kinds of model, metrics, losses, and
tests of the whole program; and the README stays short."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "messages/definition"


def words(schema, enum):
    """The words of an enumeration, as users write them."""
    body = re.search(rf"^enum {enum} {{\n(.*?)^}}",
                     (SCHEMAS / schema).read_text(), re.MULTILINE | re.DOTALL)
    names = re.findall(r"^  (\w+) @\d+;", body.group(1), re.MULTILINE)
    return [re.sub("([A-Z])", lambda found: "_" + found.group().lower(), name)
            for name in names if name != "unset"]


class Tables(unittest.TestCase):
    def setUp(self):
        self.readme = (ROOT / "README.md").read_text()

    def check_named(self, found, page):
        self.assertGreater(len(found), 2)
        for word in found:
            with self.subTest(word=word):
                self.assertRegex(page, rf"(?<!\w){word}(?!\w)")

    def test_kinds_of_model(self):
        kinds = words("model_kind.capnp", "ModelKind")
        of_definition = re.search(r"^model: .*?(?=^\w)", self.readme,
                                  re.MULTILINE | re.DOTALL).group()
        self.check_named(kinds, of_definition)
        formulas = (ROOT / "pipelines/README.md").read_text()
        for kind in kinds:
            with self.subTest(kind=kind):
                self.assertRegex(formulas, rf"(?m)^\| .*`{kind}`.* \| ")

    def test_metrics_and_losses(self):
        for enum in ("EvaluationMetric", "ValueLoss"):
            found = words("definition.capnp", enum)
            self.check_named([f"`{word}`" for word in found], self.readme)

    def test_tests_of_the_whole_program(self):
        page = (ROOT / "tests/README.md").read_text()
        tests = sorted((ROOT / "tests/system").rglob("*_test.py"))
        self.assertGreater(len(tests), 30)
        for path in tests:
            with self.subTest(test=path.name):
                self.assertRegex(page, rf"[`/]{path.name}`")

    def test_the_readme_is_short(self):
        self.assertLess(len(self.readme.splitlines()), 350)


if __name__ == "__main__":
    unittest.main()
