#include "partition/importers/wordnet/wordnet_format.hpp"

#include "messages/base/random.hpp"
#include "tests/support/result.hpp"

#include <set>
#include <string>

using namespace graphmill;
using namespace graphmill::wordnet;
using graphmill::test::contains;
using graphmill::test::error_of;
using graphmill::test::value_of;

namespace {

const std::string verb_line =
  "00001740 29 v 04 breathe 0 take_a_breath 0 respire 0 suspire 3 003 "
  "* 00005041 v 0000 + 04257960 n 0301 ;c 00001835 n 0000 02 + 02 00 + 08 00 "
  "| draw air into, and expel out of, the lungs; \"I can breathe better\"  ";

std::string message_of(std::string_view line, int file) {
  return error_of(parse_synset(line, file)).message;
}

/// A copy of `text` with its first `from` replaced.
std::string with(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

} // namespace

CATCH_TEST_CASE("a line of a data file is parsed", "[importers][wordnet]") {
  const auto got = value_of(parse_synset(verb_line, 1));
  CATCH_CHECK(got.offset == 1740);
  CATCH_CHECK(got.lexicographer_file == 29);
  CATCH_CHECK(lexicographer_files()[29] == "verb.body");
  CATCH_REQUIRE(got.lemmas.size() == 4);
  CATCH_CHECK(got.lemmas[1] == "take_a_breath");
  CATCH_REQUIRE(got.pointers.size() == 3);
  CATCH_CHECK(relations()[got.pointers[0].relation].name == "entailment");
  CATCH_CHECK(got.pointers[0].file == 1);
  CATCH_CHECK(got.pointers[0].offset == 5041);
  CATCH_CHECK(relations()[got.pointers[1].relation].name
              == "derivationally_related");
  CATCH_CHECK(got.pointers[1].file == 0);
  CATCH_CHECK(relations()[got.pointers[2].relation].name == "domain_topic");
  CATCH_CHECK(got.gloss.starts_with("draw air into"));
}

CATCH_TEST_CASE("definitions are told from examples", "[importers][wordnet]") {
  std::string_view gloss = R"(a pet; "the dog barked"; or a fiend "unclosed)";
  CATCH_CHECK(next_definition(gloss) == "a pet; ");
  CATCH_CHECK(next_definition(gloss) == "; or a fiend ");
  CATCH_CHECK(gloss.empty());
}

CATCH_TEST_CASE("relations have distinct symbols and names",
                "[importers][wordnet]") {
  std::set<std::string_view> symbols;
  std::set<std::string_view> names;
  for (const auto& [symbol, name] : relations()) {
    symbols.insert(symbol);
    names.insert(name);
  }
  CATCH_CHECK(relations().size() == 26);
  CATCH_CHECK(symbols.size() == 26);
  CATCH_CHECK(names.size() == 26);
  CATCH_CHECK(lexicographer_files().size() == 45);
}

CATCH_TEST_CASE("broken lines are named", "[importers][wordnet]") {
  CATCH_CHECK_THAT(message_of("", 0), contains("ends before its synset"));
  CATCH_CHECK_THAT(message_of("0000174x 29 v", 1),
                   contains("'0000174x' is no number of 8 digits"));
  CATCH_CHECK_THAT(message_of("1740 29 v", 1), contains("'1740'"));
  CATCH_CHECK_THAT(message_of(with(verb_line, " 29 ", " 45 "), 1),
                   contains("number 45 is not below 45"));
  CATCH_CHECK_THAT(message_of(verb_line, 0), contains("synset type 'v'"));
  CATCH_CHECK_THAT(message_of(with(verb_line, " 04 ", " 0g "), 1),
                   contains("word count '0g'"));
  CATCH_CHECK_THAT(message_of(with(verb_line, " 003 ", " 999 "), 1),
                   contains("'02' is no pointer symbol"));
  CATCH_CHECK_THAT(message_of(with(verb_line, "*", "**"), 1),
                   contains("'**' is no pointer symbol"));
  CATCH_CHECK_THAT(message_of(with(verb_line, "041 v", "041 x"), 1),
                   contains("'x' is no part of speech"));
  CATCH_CHECK_THAT(message_of(with(verb_line, "0301", "03zz"), 1),
                   contains("'03zz'"));
  CATCH_CHECK_THAT(message_of(with(verb_line, "| ", ""), 1),
                   contains("no gloss"));
}

CATCH_TEST_CASE("no bytes crash the parser", "[importers][wordnet]") {
  constexpr std::uint64_t seed = 20240611;
  random_stream draws{stream_key(seed, purpose::generate, 0, 0), 0};
  for (int round = 0; round < 20000; ++round) {
    CATCH_INFO("seed " << seed << ", round " << round);
    auto line = verb_line.substr(
      0, draws.below(static_cast<std::uint32_t>(verb_line.size())) + 1);
    for (auto changes = draws.below(4); changes > 0; --changes)
      line[draws.below(static_cast<std::uint32_t>(line.size()))] =
        static_cast<char>(draws.below(256));
    const auto got = parse_synset(line, 1);
    CATCH_CHECK((got || !got.error().message.empty()));
    if (got)
      for (const auto& to : got.value().pointers)
        CATCH_CHECK((to.relation < 26 && to.file < 4));
  }
}
