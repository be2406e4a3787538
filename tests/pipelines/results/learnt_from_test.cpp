#include "pipelines/results/learnt_from.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "pipelines/results/run_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>

namespace graphmill::test {

CATCH_TEST_CASE("weights tell by their run what they have learnt from",
                "[kernels]") {
  const temp_folder folder;
  const learnt_from learnt{"1",
                           {label_kind::classes, "paper", 2, {"a", "b"}},
                           {},
                           {{"a__1--4f895056dd23__a", "+1"}},
                           1'000'000};
  const auto run = value_of(run_folder::create(
    folder / "runs", "r", "dataset: d\n", {folder.path(), learnt}));
  CATCH_CHECK(value_of(learnt_beside(run.weights())) == std::optional{learnt});
  const auto checkpoint = run.checkpoints() / "0000001-0000000000";
  std::filesystem::create_directories(checkpoint);
  CATCH_CHECK(value_of(learnt_beside(checkpoint / "tensors.safetensors"))
              == std::optional{learnt});
  CATCH_CHECK_FALSE(value_of(learnt_beside(folder / "w.safetensors")));
  value_of(write_file(run.path() / "run.json", "[]"));
  CATCH_CHECK(error_of(learnt_beside(run.weights())).code == ec::invalid_data);
  for (const auto& ticks :
       {nlohmann::json(-1), nlohmann::json(7), nlohmann::json("steps")})
    CATCH_CHECK_THAT(
      error_of(learnt_in({{"ticks_per_second", ticks}}, "run.json")).message,
      contains("what the times of the run's dataset count"));
}

CATCH_TEST_CASE("seconds are not read as steps", "[kernels]") {
  const temp_folder folder;
  dataset_info seconds;
  seconds.digest = "2";
  seconds.node_types = {{.name = "account", .count = 5}};
  seconds.edge_types = {
    {.source = 0, .name = "pays", .destination = 0, .timed = true}};
  seconds.ticks_per_second = 1'000'000;
  definition def;
  learnt_from steps{.dataset_digest = "1", .ticks_per_second = 1};
  const auto window = [&](const learnt_from& from) {
    return expect_same_window(def, seconds, from, "these are other data");
  };
  const auto ages = [&](const learnt_from& from) {
    return expect_same_inputs(def, seconds, folder.path(), from,
                              "these are other data");
  };
  value_of(window(steps)); // Nothing is measured in them.
  value_of(ages(steps));
  def.sampler.window = 3;
  value_of(ages(steps));
  CATCH_CHECK_THAT(error_of(window(steps)).message,
                   contains("these are other data, and `sampler.window` counts "
                            "seconds here and steps there"));
  def.model.edge_ages = edge_age_use::log;
  CATCH_CHECK_THAT(error_of(ages(steps)).message,
                   contains("`model.age_unit` counts seconds here and steps"));
  steps.ticks_per_second = 0;
  CATCH_CHECK_THAT(error_of(window(steps)).message,
                   contains("add \"ticks_per_second\" to it, 1 for steps or "
                            "1000000 for seconds"));
  seconds.edge_types[0].timed = false; // The definition is refused elsewhere.
  value_of(window(steps));
  seconds.edge_types[0].timed = true;
  steps.ticks_per_second = 1'000'000;
  value_of(window(steps));
  value_of(ages(steps));
}

CATCH_TEST_CASE("relations that stand for something else are refused",
                "[kernels]") {
  learnt_from from;
  from.names = {{"a__x__a", "+1"}, {"a__y__a", "b"}};
  value_of(expect_same_relations({{"a__x__a", "+1"}, {"c", "d"}}, from, "w"));
  const auto differs =
    error_of(expect_same_relations({{"a__x__a", "-1"}}, from, "w is of it"));
  CATCH_CHECK(differs.code == ec::invalid_data);
  CATCH_CHECK_THAT(differs.message,
                   contains("w is of it, and the type a__x__a stands for "
                            "\"-1\" here and \"+1\" there"));
}

CATCH_TEST_CASE("a run begins with weights for which its data mean the same",
                "[kernels]") {
  const temp_folder folder;
  dataset_info info;
  info.digest = "2";
  info.node_types = {{.name = "account", .count = 5, .feature_width = 2}};
  info.edge_types = {{.source = 0, .name = "pays", .destination = 0}};
  info.tasks = {{.name = "kind",
                 .kind = edge_task_kind::edge_class,
                 .edge_types = {0},
                 .class_count = 2,
                 .class_names = {"ok", "fraud"}}};
  const feature_meaning fitted{{"age", "sum"}, "none", "x"};
  const auto nodes = node_folder(folder.path(), info, 0);
  std::filesystem::create_directories(nodes);
  value_of(write_feature_meaning(nodes, fitted));
  definition def;
  def.task = "kind";
  const learnt_from same{"1",
                         {label_kind::classes, "account", 2, {"ok", "fraud"}},
                         // Of a type that is not here nothing is said.
                         {{"account", fitted}, {"shop", {{"size"}, "none"}}}};
  const auto check = [&](const learnt_from& from) {
    return check_first_weights(def, info, folder.path(), from,
                               "these are other data");
  };
  value_of(check(same));
  auto other = same;
  other.labels.names = {"fraud", "ok"};
  CATCH_CHECK_THAT(error_of(check(other)).message,
                   contains("these are other data, and its labels are not "
                            "those that the run has learnt: number 0 is `ok` "
                            "here and `fraud` there"));
  other.dataset_digest = "2"; // The very data, under other names.
  value_of(check(other));
  other = same;
  other.labels.count = 1;
  other.labels.names = {"ok"};
  CATCH_CHECK_THAT(error_of(check(other)).message,
                   contains("there are 2 here and 1 there"));
  other = same;
  other.labels.kind = label_kind::regression;
  CATCH_CHECK_THAT(error_of(check(other)).message, contains("misread"));
  other = same;
  other.features["account"].fitted = "y";
  CATCH_CHECK_THAT(error_of(check(other)).message,
                   contains("features of account were fitted to other"));
  other = same;
  other.features["account"].columns = {"sum", "age"};
  CATCH_CHECK_THAT(error_of(check(other)).message,
                   contains("have \"age\" here as column 1"));
  other = same;
  other.names = {{"account__pays__account", "+1"}};
  value_of(
    write_original_names(folder.path(), {{"account__pays__account", "-1"}}));
  CATCH_CHECK_THAT(error_of(check(other)).message, contains("stands for"));

  const auto learnt = value_of(learnt_on(def, info, folder.path()));
  CATCH_CHECK(learnt.dataset_digest == "2");
  CATCH_CHECK(learnt.labels == same.labels);
  CATCH_CHECK(learnt.features.at("account") == fitted);
  CATCH_CHECK(learnt.names == original_names{{"account__pays__account", "-1"}});
  CATCH_CHECK(learnt.ticks_per_second == 0);
  info.edge_types[0].timed = true;
  info.ticks_per_second = 1;
  other = value_of(learnt_on(def, info, folder.path()));
  CATCH_CHECK(other.ticks_per_second == 1);
  info.digest = "3";
  info.ticks_per_second = 1'000'000;
  def.model.edge_ages = edge_age_use::log;
  CATCH_CHECK_THAT(error_of(check(other)).message,
                   contains("`model.age_unit` counts seconds here and steps"));
}

} // namespace graphmill::test
