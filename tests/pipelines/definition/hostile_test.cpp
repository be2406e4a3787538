#include "messages/base/random.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "tests/support/catch.hpp"

#include <string>
#include <vector>

using namespace graphmill;

namespace {

/// Whatever the bytes: it ends, with a definition or with problems that can be
/// shown.
std::size_t problem_count(const std::string& text) {
  const auto source = parse_definition(text, "x.yaml");
  for (const auto& problem : source.problems) {
    CATCH_REQUIRE(to_string(problem).size() < 2000);
    for (const char c : problem.text)
      CATCH_REQUIRE(static_cast<unsigned char>(c) >= 0x20);
  }
  return source.problems.size();
}

std::string repeated(const std::string& piece, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i)
    out += piece;
  return out;
}

} // namespace

CATCH_TEST_CASE("nesting and size are bounded", "[definition][hostile]") {
  for (const auto* piece :
       {"[",        "{",           "- ",  "? ",   "a: ",          "[a: ",
        "{a: ",     "!a ",         "&a ", "*a ",  "\"",           "'",
        "|\n",      "%\n",         "#",   ": ",   ", ",           "-\n",
        "a\n",      "\t",          "\n",  "--- ", "\xef\xbb\xbf", "a: [",
        "<<: *a\n", "- - - - a\n "}) {
    CATCH_INFO(piece);
    problem_count(
      repeated(piece, yaml_size_limit / 2 / std::string{piece}.size()));
  }
  CATCH_CHECK(problem_count(repeated("[", 20) + repeated("]", 20)) == 1);
  CATCH_CHECK(problem_count("dataset: d\n" + repeated("#", yaml_size_limit))
              == 1);
  CATCH_CHECK(problem_count("dataset: [" + repeated("1,", 30000) + "]") == 1);
  // A bomb of aliases.
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const auto last = repeated(std::string{"*"} + char(c - 1) + ", ", 8);
    bomb += fmt::format("{}: &{} [{}]\n", c, c, last);
  }
  CATCH_CHECK(problem_count(bomb) == 1);
}

CATCH_TEST_CASE("bytes that are no text", "[definition][hostile]") {
  CATCH_CHECK(problem_count(std::string{"dataset: d\0\n", 12}) == 1);
  CATCH_CHECK(problem_count("dataset: \xff\xfe") == 1);
  CATCH_CHECK(problem_count("dataset: \xc0\xaf") == 1);     // overlong
  CATCH_CHECK(problem_count("dataset: \xed\xa0\x80") == 1); // surrogate
  CATCH_CHECK(problem_count("dataset: \xe2\x82") == 1);     // cut short
  CATCH_CHECK(problem_count("dataset: d # \xe2\x82\xac\n") == 0);
  CATCH_CHECK(problem_count("\x7f"
                            "ELF\x02\x01\x01")
              == 1);
  CATCH_CHECK(problem_count("dataset: \"\\x07\\x1b[31m\"") == 1);
  const auto with_nul =
    parse_definition("dataset: d\nname: \"a\\0b\"\n", "x.yaml");
  CATCH_REQUIRE(with_nul.problems.size() == 1);
  CATCH_CHECK(to_string(with_nul.problems[0])
              == "x.yaml:2:7: not valid YAML: NUL characters are not "
                 "supported here");
  // Nor in what a flag names.
  const std::vector<std::string> flags{"sampler.fanouts.a\xaf__b__c=[1, 0]"};
  const auto set = parse_definition("dataset: d\n", "x.yaml", flags);
  CATCH_REQUIRE(set.problems.size() == 1);
  CATCH_CHECK(set.problems[0].text.find("not UTF-8") != std::string::npos);
  const auto source = parse_definition("dataset: d\nname: \xff\n", "x.yaml");
  CATCH_CHECK(to_string(source.problems.at(0))
              == "x.yaml:2:7: a byte that is not UTF-8: this is not a text "
                 "file");
}

CATCH_TEST_CASE("random bytes and random edits", "[definition][hostile]") {
  random_stream draws{stream_key(21, purpose::generate, 0, 0), 0};
  const std::string good =
    "dataset: d\nsampler:\n  fanouts: {default: [1, 2], a: [3, 4]}\n"
    "model: {kind: gat, hidden: 8}\nbudget:\n  bytes: 1 GiB\n";
  CATCH_REQUIRE(problem_count(good) == 0);
  const std::string alphabet = "[]{}:,-?&*!|>'\"%@`#\n\t .aA0_\\\xc3\xa9";
  for (int round = 0; round < 3000; ++round) {
    CATCH_INFO("seed 21, round " << round);
    auto text = good;
    const auto edits = 1 + draws.below(6);
    for (std::uint32_t i = 0; i < edits; ++i) {
      const auto at = draws.below(static_cast<std::uint32_t>(text.size()));
      const auto kind = draws.below(4);
      const auto letter =
        alphabet[draws.below(static_cast<std::uint32_t>(alphabet.size()))];
      if (kind == 0)
        text[at] = letter;
      else if (kind == 1)
        text.insert(at, 1, letter);
      else if (kind == 2 && text.size() > 1)
        text.erase(at, 1 + draws.below(8));
      else
        text[at] = static_cast<char>(draws.below(256));
    }
    problem_count(text);
  }
  for (int round = 0; round < 300; ++round) {
    CATCH_INFO("seed 21, bytes " << round);
    std::string text(draws.below(400), '\0');
    for (auto& c : text)
      c = alphabet[draws.below(static_cast<std::uint32_t>(alphabet.size()))];
    problem_count(text);
  }
}
