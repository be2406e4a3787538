#include "partition/dataset/meaning/feature_meaning.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/files/file_io.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace graphmill::test {

namespace {

dataset_info papers_and_authors() {
  dataset_info info;
  info.name = "films";
  for (const auto* name : {"paper", "author"})
    info.node_types.push_back(
      {.name = name, .count = 3, .feature_width = 2, .class_names = {}});
  return info;
}

const feature_meaning ages{{"age", "height"}, "none"};

} // namespace

CATCH_TEST_CASE("what features mean is read as it was written",
                "[partition][feature_meaning]") {
  const temp_folder folder;
  const auto info = papers_and_authors();
  CATCH_CHECK(value_of(read_feature_meanings(folder.path(), info)).empty());
  const auto papers = node_folder(folder.path(), info, 0);
  std::filesystem::create_directories(papers);
  value_of(write_feature_meaning(papers, {{"age", "\u00fc\"\n"}, "l1"}));
  const auto read = value_of(read_feature_meanings(folder.path(), info));
  CATCH_REQUIRE(read.size() == 1);
  CATCH_CHECK(read.at("paper").scaled == "l1");
  CATCH_CHECK(read.at("paper").columns
              == std::vector<std::string>{"age", "\u00fc\"\n"});
  const auto again = value_of(feature_meanings_in(to_json(read), "run.json"));
  CATCH_CHECK(difference(again, read).empty());
  CATCH_CHECK(again.at("paper").columns == read.at("paper").columns);
  for (const auto* broken :
       {"[]", "{", R"({"columns": ["a"]})", R"({"scaled": "l1"})",
        R"({"columns": [1], "scaled": "l1"})",
        R"({"columns": ["a"], "scaled": 1})"}) {
    CATCH_INFO(broken);
    value_of(write_text(papers / "features.json", broken));
    CATCH_CHECK(error_of(read_feature_meanings(folder.path(), info)).code
                == ec::invalid_data);
  }
  CATCH_CHECK(error_of(feature_meanings_in(nlohmann::json::array(), "x")).code
              == ec::invalid_data);
}

CATCH_TEST_CASE("features differ by name, number, order and scale",
                "[partition][feature_meaning]") {
  CATCH_CHECK(difference({}, {{"paper", ages}}).empty());
  CATCH_CHECK(difference({{"author", ages}}, {{"paper", ages}}).empty());
  CATCH_CHECK(difference({{"paper", ages}}, {{"paper", ages}}).empty());
  // An import of arrays knows no names.
  CATCH_CHECK(difference({{"paper", {{}, "none"}}}, {{"paper", ages}}).empty());
  CATCH_CHECK(difference({{"paper", {{}, "l1"}}}, {{"paper", ages}})
              == "features of paper are scaled by `--normalise l1` here and "
                 "`none` there");
  CATCH_CHECK(
    difference({{"paper", {{"height", "age"}, "none"}}}, {{"paper", ages}})
    == "features of paper have \"height\" here as column 1, and \"age\" there");
  CATCH_CHECK(difference({{"paper", {{"age"}, "none"}}}, {{"paper", ages}})
              == "features of paper have 1 columns here and 2 there");
}

} // namespace graphmill::test
