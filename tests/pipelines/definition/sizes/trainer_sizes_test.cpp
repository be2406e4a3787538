#include "pipelines/definition/definition_file.hpp"
#include "pipelines/definition/sizes/trainer_sizes.hpp"
#include "tests/support/catch.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

namespace {

using sizes = std::vector<size_change>;

definition_source elastic(const std::string& trainer,
                          const std::vector<std::string>& overrides = {}) {
  return parse_definition("dataset: d\ntrainer: " + trainer + "\n", "x.yaml",
                          overrides);
}

/// The one thing that is wrong.
std::string problem_of(const std::string& trainer,
                       const std::vector<std::string>& overrides = {}) {
  const auto source = elastic(trainer, overrides);
  CATCH_REQUIRE(source.problems.size() == 1);
  return source.problems.front().text;
}

} // namespace

CATCH_TEST_CASE("the number of trainers may be a range",
                "[definition][sizes]") {
  const auto trainer = [](const std::string& text,
                          const std::vector<std::string>& overrides = {}) {
    const auto source = elastic(text, overrides);
    CATCH_REQUIRE(source.problems.empty());
    return source.value.trainer;
  };
  const auto range = trainer("{replicas: {min: 2, max: 4}}");
  CATCH_CHECK(range.min_replicas == 2);
  CATCH_CHECK(range.replicas == 4);
  CATCH_CHECK(range.is_elastic());
  const auto plain =
    trainer("{replicas: {min: 2, max: 4}}", {"trainer.replicas=3"});
  CATCH_CHECK(plain.min_replicas == 0);
  CATCH_CHECK(plain.replicas == 3);
  CATCH_CHECK_FALSE(plain.is_elastic());
  const auto lower =
    trainer("{replicas: {min: 2, max: 4}}", {"trainer.replicas.min=1"});
  CATCH_CHECK(lower.min_replicas == 1);
  CATCH_CHECK(lower.replicas == 4);

  CATCH_CHECK(problem_of("{replicas: {min: 3, max: 2}}")
              == "`trainer.replicas` has the min 3, which is more than its "
                 "max, 2");
  CATCH_CHECK(problem_of("{replicas: {max: 2}}")
              == "`trainer.replicas` is a map without `min`, which must be 1 "
                 "at the least");
  for (const auto* least : {"0", "a", "65"})
    CATCH_CHECK(
      problem_of(std::string{"{replicas: {min: "} + least + ", max: 2}}")
      == std::string{"`trainer.replicas.min` is `"} + least
           + "`, must be a whole number from 1 to 64 trainers");
  for (const auto& [given, shown] :
       {std::pair{"1-4", "`1-4`"}, std::pair{"[1, 2]", "a list"},
        std::pair{"two", "`two`"}})
    CATCH_CHECK(problem_of(std::string{"{replicas: "} + given + "}")
                == std::string{"`trainer.replicas` is "} + shown
                     + ", must be a whole number from 1 to 64 trainers, or a "
                       "map of min and max, as in {min: 1, max: 4}");
  CATCH_CHECK(problem_of("{replicas: 0}")
              == "`trainer.replicas` is `0`, must be a whole number from 1 to "
                 "64 trainers");
  CATCH_CHECK_THAT(problem_of("{replicas: {min: 1, max: 65}}"),
                   contains("`trainer.replicas.max` is")
                     && contains("from 1 to 64 trainers"));
  CATCH_CHECK(problem_of("{replicas: {min: 1, max: 2, most: 3}}")
              == "`most` is not a field of `trainer.replicas`; there are min "
                 "and max");
}

CATCH_TEST_CASE("sizes are checked one after the other",
                "[definition][sizes]") {
  const auto range = [](const std::string& list) {
    return "{replicas: {min: 1, max: 3}, sizes: " + list + "}";
  };
  CATCH_CHECK(elastic(range("[0/0:3, 0/4:1, 2/0:2]")).problems.empty());
  CATCH_CHECK(elastic("{replicas: 2, sizes: [0/0:2]}").problems.empty());
  for (const auto* wrong : {"1/2", "1:2", "1/2:", "a/0:1", "-1/0:1", "0/0:1 ",
                            "0/0:65", "0/0:0", "2:0/1", "10000000/0:1"})
    CATCH_CHECK(problem_of(range(std::string{"[\""} + wrong + "\"]"))
                == std::string{"`trainer.sizes` has the element `"} + wrong
                     + "`, which must be EPOCHS/STEPS:TRAINERS, as in 3/17:1");
  CATCH_CHECK_THAT(problem_of(range("[0/1:2]")), contains("begin with 0/0"));
  CATCH_CHECK_THAT(problem_of(range("[0/0:2, 0/0:1]")),
                   contains("must be behind the entry before it"));
  CATCH_CHECK_THAT(problem_of(range("[0/0:2, 1/4:1, 1/3:2]")),
                   contains("must be behind the entry before it"));
  CATCH_CHECK_THAT(problem_of(range("[0/0:4]")),
                   contains("must have from 1 to 3 trainers"));
  CATCH_CHECK_THAT(problem_of("{replicas: 2, sizes: [0/0:1]}"),
                   contains("must have from 2 to 2 trainers"));
}

CATCH_TEST_CASE("sizes of a definition are found by where a run stands",
                "[definition][sizes]") {
  definition def;
  def.trainer.replicas = 3;
  CATCH_CHECK_FALSE(size_at(def, {0, 0}));
  CATCH_CHECK_FALSE(next_change(def, {0, 0}));
  CATCH_CHECK(sized(def, 2) == def);
  def.trainer.min_replicas = 1;
  def.trainer.sizes = {"0/0:2", "1/4:1", "3/0:3"};
  CATCH_CHECK(size_at(def, {0, 0}) == 2u);
  CATCH_CHECK(size_at(def, {1, 3}) == 2u);
  CATCH_CHECK(size_at(def, {1, 4}) == 1u);
  CATCH_CHECK(size_at(def, {2, 9}) == 1u);
  CATCH_CHECK(size_at(def, {7, 0}) == 3u);
  CATCH_CHECK(next_change(def, {0, 0}) == run_point{1, 4});
  CATCH_CHECK(next_change(def, {1, 4}) == run_point{3, 0});
  CATCH_CHECK_FALSE(next_change(def, {3, 0}));
  const auto attempt = sized(def, 2);
  CATCH_CHECK(attempt.trainer.replicas == 2);
  CATCH_CHECK_FALSE(attempt.trainer.is_elastic());
}

CATCH_TEST_CASE("a record of sizes goes back with the run",
                "[definition][sizes]") {
  sizes record;
  note_size(record, {{0, 0}, 2});
  note_size(record, {{1, 4}, 1});
  note_size(record, {{2, 0}, 1}); // Another attempt, just as large.
  CATCH_CHECK(record == sizes{{{0, 0}, 2}, {{1, 4}, 1}});
  note_size(record, {{3, 0}, 3});
  CATCH_CHECK(sizes_text(record) == "0/0:2, 1/4:1, 3/0:3");
  CATCH_CHECK(sizes_in(sizes_json(record)) == record);
  auto same = record;
  note_size(same, {{1, 4}, 3}); // Nothing was done with one.
  CATCH_CHECK(same == sizes{{{0, 0}, 2}, {{1, 4}, 3}});
  note_size(record, {{1, 2}, 2}); // Back to before that.
  CATCH_CHECK(record == sizes{{{0, 0}, 2}});
  CATCH_CHECK(parse_size_change("3/17:1") == size_change{{3, 17}, 1});
  CATCH_CHECK(to_string(size_change{{3, 17}, 1}) == "3/17:1");
}

CATCH_TEST_CASE("a list of sizes that makes no sense is none",
                "[definition][sizes]") {
  const auto read = [](const char* text) {
    return sizes_in(nlohmann::json::parse(text)).has_value();
  };
  CATCH_CHECK(read("[]"));
  CATCH_CHECK(read(R"([{"epoch": 0, "step": 0, "replicas": 1}])"));
  CATCH_CHECK_FALSE(read("{}"));
  CATCH_CHECK_FALSE(read("[1]"));
  CATCH_CHECK_FALSE(read(R"([{"epoch": 0, "step": 0}])"));
  CATCH_CHECK_FALSE(read(R"([{"epoch": 0, "step": 0, "replicas": 0}])"));
  CATCH_CHECK_FALSE(read(R"([{"epoch": -1, "step": 0, "replicas": 1}])"));
  CATCH_CHECK_FALSE(read(R"([{"epoch": 0, "step": 0.5, "replicas": 1}])"));
  CATCH_CHECK_FALSE(read(R"([{"epoch": 1, "step": 0, "replicas": 1},
                             {"epoch": 1, "step": 0, "replicas": 2}])"));
}

CATCH_TEST_CASE("the parts of an epoch's steps are counted",
                "[definition][sizes]") {
  const sizes record{{{0, 0}, 2}, {{1, 4}, 1}, {{1, 6}, 3}, {{3, 0}, 2}};
  CATCH_CHECK(parts_until(record, {0, 5}) == 10);
  CATCH_CHECK(parts_until(record, {1, 3}) == 6);
  CATCH_CHECK(parts_until(record, {1, 5}) == 9);  // 4 * 2 + 1
  CATCH_CHECK(parts_until(record, {1, 8}) == 16); // 4 * 2 + 2 * 1 + 2 * 3
  CATCH_CHECK(parts_until(record, {2, 4}) == 12);
  CATCH_CHECK(parts_until(record, {3, 4}) == 8);
  CATCH_CHECK(parts_until(record, {4, 0}) == 0);
}

} // namespace graphmill::test
