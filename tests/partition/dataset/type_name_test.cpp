#include "partition/dataset/meaning/type_name.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/meaning/original_names.hpp"
#include "partition/files/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

CATCH_TEST_CASE("what can name a type is its name", "[partition][type_name]") {
  for (const std::string name : {"a", "1", "-1", "has-a", "film.actor", "is_a",
                                 "x--y", "550e8400-e29b-41d4-a716-446655440000",
                                 "a--0123456789a", "a--0123456789AB"}) {
    CATCH_INFO(name);
    CATCH_CHECK(type_name_for(name) == name);
  }
  CATCH_CHECK(type_name_for(std::string(80, 'x')) == std::string(80, 'x'));
}

CATCH_TEST_CASE("what cannot name a type gets a name by itself alone",
                "[partition][type_name]") {
  // As by hashlib.blake2b(text.encode(), digest_size=32) of Python.
  const std::vector<std::pair<std::string, std::string>> names{
    {"+1", "1--4f895056dd23"},
    {"_is", "is--3f9549f49f12"},
    {"is__a", "is_a--8894ad8f9774"},
    {"/people/person/nationality", "people-person-nationality--633e36fbc881"},
    {"geh\u00f6rt zu", "geh-rt-zu--12e66bdddcac"},
    {"\u4e2d\u6587", "name--c429b36d5c53"},
    {std::string(81, 'x'), std::string(62, 'x') + "--2f3fa970ac93"},
    // Like a derived name.
    {"is--0123456789ab", "is-0123456789ab--ea9323c56958"}};
  for (const auto& [text, name] : names) {
    CATCH_INFO(text);
    CATCH_CHECK(type_name_for(text) == name);
  }
}

CATCH_TEST_CASE("texts have valid names, each another one",
                "[partition][type_name]") {
  std::set<std::string> names;
  std::set<std::string> texts;
  const std::string characters = "a_.-+ /\xc3\xa4";
  for (std::size_t i = 0; i < characters.size(); ++i)
    for (std::size_t j = 0; j < characters.size(); ++j)
      for (const auto* between : {"", "x", "__"})
        texts.insert(characters[i] + std::string{between} + characters[j]);
  for (const auto& text : std::set<std::string>{texts})
    texts.insert(type_name_for(text)); // Which a source may have, too.
  for (const auto& text : texts) {
    const auto name = type_name_for(text);
    CATCH_INFO(text << " " << name);
    CATCH_CHECK(check_name(name, ""));
    CATCH_CHECK(check_name("rev_" + name, ""));
    CATCH_CHECK(names.insert(name).second);
  }
}

CATCH_TEST_CASE("original names are read as they were written",
                "[partition][type_name]") {
  const temp_folder folder;
  CATCH_CHECK(value_of(read_original_names(folder.path())).empty());
  value_of(write_original_names(folder.path(), {}));
  CATCH_CHECK_FALSE(std::filesystem::exists(folder / "original_names.json"));
  const original_names names{{"a__1--4f895056dd23__a", "+1"}, {"b", "\u00fc"}};
  value_of(write_original_names(folder.path(), names));
  CATCH_CHECK(value_of(read_original_names(folder.path())) == names);
  for (const auto* broken : {"[]", "{", R"({"a": 1})"}) {
    CATCH_INFO(broken);
    value_of(write_text(folder / "original_names.json", broken));
    CATCH_CHECK(error_of(read_original_names(folder.path())).code
                == ec::invalid_data);
  }
}

CATCH_TEST_CASE("a type that stands for something else is told",
                "[partition][type_name]") {
  CATCH_CHECK(difference_of_names({}, {{"a", "x"}}).empty());
  CATCH_CHECK(difference_of_names({{"a", "x"}}, {{"a", "x"}}).empty());
  CATCH_CHECK(
    difference_of_names({{"a", "x"}, {"b", "y"}}, {{"a", "x"}, {"b", "z"}})
    == "the type b stands for \"y\" here and \"z\" there");
}

} // namespace graphmill::test
