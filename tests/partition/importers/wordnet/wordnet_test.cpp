#include "partition/importers/wordnet/wordnet.hpp"

#include "partition/importers/wordnet/wordnet_format.hpp"
#include "tests/partition/importers/read_dataset.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

using namespace graphmill;
using namespace graphmill::test;

namespace {

/// Five synsets: 0 and 1 nouns, 2 a verb, 3 an adjective, 4 an adverb.
const std::array<std::string, 4> tiny{
  "  1 A licence.  \n"
  "00000100 03 n 01 entity 0 001 ~ 00000200 n 0000 | that which exists  \n"
  "00000200 05 n 02 big_Dog 0 Canis 1 003 @ 00000100 n 0000 + 00000100 v "
  "0101 + 00000100 v 0201 | an animal; \"the dog barked\"  \n",
  "00000100 31 v 01 dog 0 002 + 00000200 n 0101 $ 00000100 v 0000 01 + 02 00 "
  "| follow  \n",
  "00000300 00 s 01 canine(ip) 0 001 \\ 00000200 n 0101 | of dogs  \n",
  "00000400 02 r 01 doggedly 0 001 \\ 00000300 a 0101 | with effort  \n",
};

/// A folder with the tiny database and room for a dataset.
struct workplace {
  workplace() {
    std::filesystem::create_directory(source);
    std::filesystem::create_directory(out);
    for (std::size_t i = 0; i < tiny.size(); ++i)
      put_text(source / wordnet::data_files[i], tiny[i]);
    options.source = source;
    options.feature_width = 32;
    options.fractions = {0.4, 0.2, 0.4};
  }

  temp_folder top;
  std::filesystem::path source = top / "source";
  std::filesystem::path out = top / "out";
  wordnet_options options;
};

std::string message_of(const workplace& at) {
  return error_of(import_wordnet(at.options, at.out)).message;
}

} // namespace

CATCH_TEST_CASE("a tiny WordNet becomes the graph on paper",
                "[importers][wordnet]") {
  const workplace at;
  const auto info = value_of(import_wordnet(at.options, at.out));
  const auto got = value_of(dataset::open(at.out));
  CATCH_REQUIRE(info.node_types.size() == 1);
  CATCH_CHECK(info.node_types[0].name == "synset");
  CATCH_CHECK(info.node_types[0].count == 5);
  CATCH_CHECK(info.node_types[0].class_names[5] == "noun.animal");
  CATCH_REQUIRE(info.edge_types.size() == 26);
  CATCH_CHECK(labels_of(got) == std::vector<std::int64_t>{3, 5, 31, 0, 2});

  using edges = std::vector<edge_pair>;
  CATCH_CHECK(edges_of(got, "hypernym") == edges{{0, 1}});
  CATCH_CHECK(edges_of(got, "hyponym") == edges{{1, 0}});
  CATCH_CHECK(edges_of(got, "derivationally_related") == edges{{2, 1}, {1, 2}});
  CATCH_CHECK(edges_of(got, "verb_group") == edges{{2, 2}});
  CATCH_CHECK(edges_of(got, "pertainym") == edges{{1, 3}, {3, 4}});
  std::int64_t total = 0;
  for (const auto& type : info.edge_types)
    total += type.count;
  CATCH_CHECK(total == 7);
}

CATCH_TEST_CASE("features are words of lemmas and definitions",
                "[importers][wordnet]") {
  workplace at;
  value_of(import_wordnet(at.options, at.out));
  const auto before = features_of(value_of(dataset::open(at.out)));
  for (std::size_t node = 0; node < 5; ++node) {
    float squares = 0;
    for (std::size_t i = 0; i < 32; ++i)
      squares += before[node * 32 + i] * before[node * 32 + i];
    CATCH_CHECK(std::abs(squares - 1) < 1e-5f);
  }

  // Examples, markers, labels, pointers and case must not show in them.
  auto nouns = tiny[0];
  nouns.replace(nouns.find("the dog barked"), 14, "a cat came");
  nouns.replace(nouns.find("big_Dog"), 7, "BIG_dog");
  nouns.replace(nouns.find(" 05 n"), 5, " 09 n");
  auto adjectives = tiny[2];
  adjectives.replace(adjectives.find("(ip)"), 4, "(a)");
  put_text(at.source / "data.noun", nouns);
  put_text(at.source / "data.adj", adjectives);
  const auto other = at.top / "other";
  std::filesystem::create_directory(other);
  value_of(import_wordnet(at.options, other));
  const auto again = value_of(dataset::open(other));
  CATCH_CHECK(features_of(again) == before);
  CATCH_CHECK(labels_of(again)[1] == 9);
}

CATCH_TEST_CASE("reverse adds a relation beside each", "[importers][wordnet]") {
  workplace at;
  at.options.reverse = true;
  const auto info = value_of(import_wordnet(at.options, at.out));
  const auto got = value_of(dataset::open(at.out));
  CATCH_CHECK(info.edge_types.size() == 52);
  using edges = std::vector<edge_pair>;
  CATCH_CHECK(edges_of(got, "pertainym") == edges{{1, 3}, {3, 4}});
  CATCH_CHECK(edges_of(got, "rev_pertainym") == edges{{3, 1}, {4, 3}});
}

CATCH_TEST_CASE("importing twice gives the same digest",
                "[importers][wordnet]") {
  workplace at;
  const auto first = value_of(import_wordnet(at.options, at.out));
  const auto other = at.top / "other";
  std::filesystem::create_directory(other);
  const auto second = value_of(import_wordnet(at.options, other));
  CATCH_CHECK(first.digest == second.digest);
  CATCH_CHECK(!first.digest.empty());
}

CATCH_TEST_CASE("a broken WordNet is an error with file and line",
                "[importers][wordnet]") {
  workplace at;
  CATCH_SECTION("a file is missing") {
    std::filesystem::remove(at.source / "data.adj");
    const auto got = error_of(import_wordnet(at.options, at.out));
    CATCH_CHECK(got.code == ec::not_found);
    CATCH_CHECK_THAT(got.message, contains("data.adj"));
    CATCH_CHECK_THAT(got.message, contains("install the package wordnet-base"));
  }
  CATCH_SECTION("a file is empty") {
    put_text(at.source / "data.verb", "");
    CATCH_CHECK_THAT(message_of(at), contains("data.verb holds no synset"));
  }
  CATCH_SECTION("a pointer leads nowhere") {
    auto nouns = tiny[0];
    nouns.replace(nouns.find("~ 00000200"), 10, "~ 00000201");
    put_text(at.source / "data.noun", nouns);
    CATCH_CHECK_THAT(message_of(at), contains("data.noun:2: a pointer leads"));
  }
  CATCH_SECTION("offsets do not ascend") {
    put_text(at.source / "data.adv", tiny[3] + tiny[3]);
    CATCH_CHECK_THAT(message_of(at), contains("data.adv:2: its synset offset"));
  }
  CATCH_SECTION("a line is endless") {
    put_text(at.source / "data.adv", std::string(3u << 20, 'x'));
    CATCH_CHECK_THAT(message_of(at), contains("longer than 1 MiB"));
  }
  CATCH_SECTION("the feature width is out of range") {
    at.options.feature_width = 0;
    CATCH_CHECK_THAT(message_of(at), contains("feature width is 0"));
  }
  CATCH_CHECK(std::filesystem::is_empty(at.out));
}

CATCH_TEST_CASE("a truncated WordNet never passes", "[importers][wordnet]") {
  workplace at;
  for (std::size_t size = 0; size < tiny[0].size(); ++size) {
    CATCH_INFO("data.noun cut to " << size << " bytes");
    put_text(at.source / "data.noun", tiny[0].substr(0, size));
    CATCH_CHECK(error_of(import_wordnet(at.options, at.out)).code
                == ec::invalid_data);
  }
}

CATCH_TEST_CASE("WordNet 3.0 has its known size", "[importers][wordnet]") {
  wordnet_options options;
  if (!std::filesystem::exists(options.source / "data.noun")) {
    CATCH_WARN("skipped: the package wordnet-base is not installed");
    return;
  }
  options.feature_width = 4;
  const temp_folder out;
  const auto info = value_of(import_wordnet(options, out.path()));
  const auto got = value_of(dataset::open(out.path()));
  CATCH_CHECK(info.node_types[0].count == 117659);
  CATCH_CHECK(info.edge_types.size() == 26);
  CATCH_CHECK(info.node_types[0].split_counts
              == std::array<std::int64_t, 3>{11765, 11766, 94128});

  std::int64_t total = 0;
  std::set<edge_pair> distinct;
  for (edge_type_id type = 0; type < 26; ++type) {
    const auto edges = edges_of(got, type);
    const std::set<edge_pair> unique{edges.begin(), edges.end()};
    CATCH_CHECK(unique.size() == edges.size());
    total += static_cast<std::int64_t>(edges.size());
    distinct.insert(edges.begin(), edges.end());
  }
  CATCH_CHECK(total == 364552);
  CATCH_CHECK(distinct.size() == 361647);
  CATCH_CHECK(std::count_if(distinct.begin(), distinct.end(),
                            [](auto edge) { return edge.first == edge.second; })
              == 9);
  CATCH_CHECK(edges_of(got, "hypernym").size() == 89089);
  CATCH_CHECK(edges_of(got, "pertainym").size() == 6667);
  const auto labels = labels_of(got);
  CATCH_CHECK(std::count(labels.begin(), labels.end(), 18) == 11087);
  CATCH_CHECK(std::set<std::int64_t>{labels.begin(), labels.end()}.size()
              == 45);
}
