"""What the compilers of the project can all build.

The fuzzed program is built by Clang 14 with the library of GCC 12, in which
`std::ranges::subrange` and views do not compile: Clang 14 does not look up a
constraint of theirs as the library needs it. So sources have no views, and
none of the algorithms of `std::ranges` that return a subrange; those of `std`
with two iterators do the same. No other test would notice, for not everybody
builds that program.
"""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = "messages", "partition", "pipelines", "actors", "tests/fuzz", "tests/support"
SUBRANGES = re.compile(
    r"\branges::\s*(?:(?:equal_range|find_end|find_last(?:_if(?:_not)?)?|"
    r"partition|remove(?:_if)?|rotate|search(?:_n)?|stable_partition|"
    r"subrange|unique)\b|views?::|\w+_view\b)|\bstd::views::")
COMMENT = re.compile(r"//.*")


def uses(text):
    """The lines of a source with what is not to be there."""
    code = COMMENT.sub("", text)
    return [(code.count("\n", 0, found.start()) + 1, found.group())
            for found in SUBRANGES.finditer(code)]


class Compilers(unittest.TestCase):
    def test_no_subranges(self):
        wrong = []
        sources = [path for folder in FOLDERS
                   for path in sorted((ROOT / folder).rglob("*.?pp"))]
        self.assertTrue(sources)
        for path in sources:
            wrong += [f"{path.relative_to(ROOT)}:{line}: {what}: take the one "
                      "of `std`, with two iterators"
                      for line, what in uses(path.read_text())]
        self.assertFalse(wrong, "\n" + "\n".join(wrong))

    def test_what_is_found(self):
        for bad in ("std::ranges::rotate(out, at);",
                    "std::ranges::\n  stable_partition(all, is_one);",
                    "std::ranges::remove_if(all, is_one);",
                    "namespace ranges = std::ranges; ranges::unique(all);",
                    "const auto [from, to] = std::ranges::equal_range(all, 1);",
                    "for (auto i : std::views::iota(0, 3))",
                    "for (auto i : std::ranges::views::reverse(all))",
                    "for (auto i : std::ranges::reverse_view(all))",
                    "std::ranges::subrange<int*> all;"):
            self.assertEqual(len(uses(bad)), 1, bad)
        for good in ("std::rotate(out.begin(), at, out.end());",
                     "std::ranges::partition_point(all, is_one);",
                     "std::ranges::unique_copy(all, to);",
                     "std::ranges::rotate_copy(all, at, to);",
                     "std::ranges::sort(all); // Not std::ranges::unique.",
                     "std::string_view ranges;",
                     "std::unique_ptr<int> one;"):
            self.assertEqual(uses(good), [], good)


if __name__ == "__main__":
    unittest.main()
