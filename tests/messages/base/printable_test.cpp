#include "messages/base/printable.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace graphmill;

CATCH_TEST_CASE("what a terminal would obey is escaped", "[printable]") {
  const std::vector<std::pair<std::string, std::string>> table{
    {"", ""},
    {"plain text, \"quoted\" \\ and so on",
     "plain text, \"quoted\" \\ and so on"},
    {"n\xc3\xa4me \xe2\x82\xac \xf0\x9f\x8e\x89",
     "n\xc3\xa4me \xe2\x82\xac \xf0\x9f\x8e\x89"},
    {"\x1b[2J\x1b]0;title\x07", "\\u001b[2J\\u001b]0;title\\u0007"},
    {"one\ntwo\tthree\r", "one\\ntwo\\tthree\\u000d"},
    {std::string{"a\0b", 3}, "a\\u0000b"},
    {"\x7f", "\\u007f"},
    {"\xc2\x9b"
     "31m",
     "\\u009b31m"}, // The same as ESC [.
    {"\x9b"
     "31m",
     "\\x9b31m"}, // On an old terminal, too.
    {"\xe2\x80\xae"
     "abc",
     "\\u202eabc"}, // Turns round what follows.
    {"\xe2\x81\xa6"
     "abc",
     "\\u2066abc"}, // Isolates it.
    {"\xc0\xaf\xed\xa0\x80", "\\xc0\\xaf\\xed\\xa0\\x80"},
    {"cut short \xe2\x82", "cut short \\xe2\\x82"},
  };
  for (const auto& [text, expected] : table)
    CATCH_CHECK(printable(text) == expected);
}

CATCH_TEST_CASE("several lines may stay several lines", "[printable]") {
  CATCH_CHECK(printable("one\n\ttwo\r\x1b", line_breaks::keep)
              == "one\n\ttwo\\u000d\\u001b");
}

CATCH_TEST_CASE("a text is cut between letters", "[printable]") {
  CATCH_CHECK(shortened("sixteen letters.", 16) == "sixteen letters.");
  CATCH_CHECK(shortened("more than sixteen", 16) == "more than six...");
  CATCH_CHECK(shortened("gr\xc3\xb6\xc3\x9f"
                        "er",
                        7)
              == "gr\xc3\xb6...");
  CATCH_CHECK(shortened("gr\xc3\xb6\xc3\x9f"
                        "er",
                        6)
              == "gr...");
}

CATCH_TEST_CASE("values stay on their line, and the sentence keeps its own",
                "[printable]") {
  const std::string forged = "cora\ngraphmill: run x finished";
  CATCH_CHECK(format_printable("{}:\n{:<6}|{:>3}|{:.1f}\n", forged, "a\tb", 7,
                               0.25)
              == "cora\\ngraphmill: run x finished:\na\\tb  |  7|0.2\n");
  CATCH_CHECK(format_printable("{:<{}}|", std::string_view{"\x1b"}, 8)
              == "\\u001b  |");
}
