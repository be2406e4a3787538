"""Tables of the pages have all that there is: kinds of model, metrics, losses, and
tests of the whole program. Pages are short, and the README shows recipes alone."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "examples/guide"
SCHEMAS = ROOT / "messages/definition"
README_LINES = 150
PAGE_LINES = 300


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
        self.train = (GUIDE / "train.md").read_text()

    def check_named(self, found, page):
        self.assertGreater(len(found), 2)
        for word in found:
            with self.subTest(word=word):
                self.assertRegex(page, rf"(?<!\w){word}(?!\w)")

    def test_kinds_of_model(self):
        kinds = words("model_kind.capnp", "ModelKind")
        of_definition = re.search(r"^model: .*?(?=^\w)", self.train,
                                  re.MULTILINE | re.DOTALL).group()
        self.check_named(kinds, of_definition)
        models = (GUIDE / "models.md").read_text()
        for part in models.split("\n## Formulas\n"):
            for kind in kinds:
                with self.subTest(kind=kind):
                    self.assertRegex(part, rf"(?m)^\| .*`{kind}`.* \| ")

    def test_metrics_and_losses(self):
        metrics = (GUIDE / "evaluation.md").read_text()
        for enum, page in (("EvaluationMetric", metrics),
                           ("ValueLoss", self.train)):
            found = words("definition.capnp", enum)
            self.check_named([f"`{word}`" for word in found], page)

    def test_methods_of_sampling(self):
        methods = words("definition.capnp", "SamplingMethod")
        page = (GUIDE / "sampling.md").read_text()
        self.check_named([f"`{word}`" for word in methods], page)
        loader = (ROOT / "actors/python/graphmill/loader.py").read_text()
        known = re.search(r"^_METHODS = (.*)$", loader, re.MULTILINE).group(1)
        self.assertEqual(re.findall(r'"(\w+)"', known), methods)

    def test_words_of_links(self):
        page = (GUIDE / "links.md").read_text()
        for enum in ("DecoderKind", "NegativeKind", "CorruptedEnd",
                     "LinkLoss"):
            found = words("definition.capnp", enum)
            self.check_named([f"`{word}`" for word in found], page)

    def test_tests_of_the_whole_program(self):
        page = (ROOT / "tests/README.md").read_text()
        tests = sorted((ROOT / "tests/system").rglob("*_test.py"))
        self.assertGreater(len(tests), 30)
        for path in tests:
            with self.subTest(test=path.name):
                self.assertRegex(page, rf"[`/]{path.name}`")


class Pages(unittest.TestCase):
    def test_words_have_one_meaning(self):
        glossary = (ROOT / "actors/glossary.md").read_text()
        self.assertNotIn("(also", glossary)
        terms = re.findall(r"^\| ([^|`]+) \| ", glossary, re.MULTILINE)
        terms = [term for term in terms if term not in ("term", "word")]
        self.assertGreater(len(terms), 100)
        self.assertEqual(sorted(terms), sorted(set(terms)))

    def test_pages_are_short(self):
        pages = [path for path in ROOT.rglob("*.md")
                 if not path.relative_to(ROOT).parts[0].startswith((".", "build"))]
        self.assertGreater(len(pages), 20)
        for path in pages:
            name = str(path.relative_to(ROOT))
            with self.subTest(page=name):
                self.assertLessEqual(
                    len(path.read_text().splitlines()),
                    README_LINES if name == "README.md" else PAGE_LINES)

    def test_the_readme_shows_recipes(self):
        """A test runs the recipes, and so all that the README tells to type."""
        recipes = "".join(path.read_text() for path in
                          (ROOT / "examples").glob("recipes*.md"))
        blocks = re.findall(r"^```\w+\n(.*?)^```$",
                            (ROOT / "README.md").read_text(),
                            re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 4)
        for block in blocks:
            self.assertIn(block, recipes)


if __name__ == "__main__":
    unittest.main()
