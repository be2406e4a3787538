"""What others wrote comes in, and goes out to a terminal, at one place for each
format: where its limits are, or its escapes."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROOMS = "messages", "partition", "pipelines", "actors"
PLACES = {
    r"json::(parse|accept|sax_parse|from_\w+)\b|Json::parse":
        {"partition/files/json_text.cpp"},
    r"YAML::(Parser|Load)": {"pipelines/definition/yaml/yaml_tree.cpp"},
    r"sqlite3_open|new SQLite::Database": {"actors/cluster/history/run_history.cpp"},
    r"std::c(out|err)\b|\b(fwrite|fprintf|fputs|puts|printf)\(":
        {"actors/process/say.hpp",
         "actors/commands/options/progress.cpp"},  # Moves the cursor.
    r"\baddn?w?str\(|\baddch\(": {"actors/commands/top/top_terminal.cpp"},
    r"spdlog::pattern_formatter|set_pattern\(\"":
        {"actors/process/logger.cpp"},
}


class OneWayIn(unittest.TestCase):
    def test_one_way_in(self):
        found = {pattern: set() for pattern in PLACES}
        for room in ROOMS:
            for path in (ROOT / room).rglob("*.?pp"):
                text = path.read_text()
                for pattern, names in found.items():
                    if re.search(pattern, text):
                        names.add(str(path.relative_to(ROOT)))
        for pattern, names in found.items():
            self.assertEqual(names, PLACES[pattern], pattern)


if __name__ == "__main__":
    unittest.main()
