#include "actors/run/class_report.hpp"
#include "actors/run/local_run.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/model/replica.hpp"
#include "pipelines/model/state_shapes.hpp"
#include "pipelines/results/safetensors.hpp"
#include "tests/partition/dataset/example.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>
#include <spdlog/sinks/null_sink.h>

#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

CATCH_TEST_CASE("a run ends when its conductor dies", "[actors][local_run]") {
  temp_folder folder;
  value_of(write_example(folder.path()));
  local_run_config config;
  config.def = parse_definition("dataset: example\n"
                                "model: {kind: rgcn, hidden: 4}\n"
                                "train: {batch_size: 2, epochs: 2}\n",
                                "test.yaml")
                 .value;
  config.data = folder.path();
  config.verify = false;
  config.log = std::make_shared<spdlog::logger>(
    "test", std::make_shared<spdlog::sinks::null_sink_mt>());
  config.observer.on_phase = [](const phase_result&) -> result<void> {
    throw std::runtime_error("the observer broke");
  };
  std::optional<signal_watch> signals;
  const auto run = value_of(run_locally(std::move(config), signals));
  CATCH_REQUIRE(run.outcome.failure);
  CATCH_CHECK(run.outcome.failure->code == ec::crashed);
  CATCH_CHECK(run.outcome.failure->message
              == "conductor crashed: the observer broke");
  CATCH_CHECK(run.outcome.parameters == nullptr);
}

namespace {

/// Four papers in steps of three, over two trainers.
local_run_config predicting_run(const temp_folder& folder,
                                const std::string& more) {
  local_run_config out;
  out.def = parse_definition("dataset: example\n"
                             "model: {kind: rgcn, hidden: 4}\n"
                             "trainer: {replicas: 2}\n"
                             "evaluate: {neighbours: all, batch_size: 3"
                               + more + "}\n",
                             "test.yaml")
              .value;
  out.data = folder.path();
  out.verify = false;
  out.log = std::make_shared<spdlog::logger>(
    "test", std::make_shared<spdlog::sinks::null_sink_mt>());
  return out;
}

struct predicted_nodes {
  run_outcome outcome;
  std::map<node_id, std::vector<float>> logits;
};

predicted_nodes predict_nodes(local_run_config config) {
  predicted_nodes out;
  config.observer.on_output = [&out](const step_result& told) {
    const auto& nodes = *told.original_seeds;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto* row = told.output->logits.data() + 2 * i;
      CATCH_CHECK(out.logits.emplace(nodes[i], std::vector(row, row + 2))
                    .second); // Each node once.
    }
  };
  std::optional<signal_watch> signals;
  out.outcome = value_of(run_locally(std::move(config), signals)).outcome;
  return out;
}

} // namespace

CATCH_TEST_CASE("nodes in their order are predicted as without one",
                "[actors][local_run]") {
  temp_folder folder;
  const auto info = value_of(write_example(folder.path()));
  auto alone = predicting_run(folder, "");
  alone.mode = run_mode::predict;
  auto other = alone.def;
  other.seed = 9; // Not what trainers begin with.
  alone.weights = value_of(replica::create(other, info))->parameters();
  auto in_order = predicting_run(folder, ", predict: true");
  in_order.mode = run_mode::predict_in_order;
  in_order.from =
    training_state{{},
                   {},
                   std::make_shared<const std::vector<named_tensor>>(
                     value_of(begin_state(in_order.def, info, alone.weights)))};
  const auto digest = weights_digest(alone.weights);
  const auto expected = predict_nodes(std::move(alone));
  CATCH_CHECK_FALSE(expected.outcome.failure);
  CATCH_CHECK(expected.logits.size() == 4);
  const auto got = predict_nodes(std::move(in_order));
  CATCH_CHECK_FALSE(got.outcome.failure);
  CATCH_CHECK(got.outcome.digest == digest);
  CATCH_CHECK(got.outcome.train_steps == 0);
  CATCH_CHECK(got.logits == expected.logits);
}

namespace {

struct measured_phases {
  run_outcome outcome;
  std::vector<phase_result> told;
};

measured_phases measure_split(local_run_config config) {
  measured_phases out;
  config.observer.on_phase = [&out](const phase_result& done) -> result<void> {
    out.told.push_back(done);
    return ok();
  };
  std::optional<signal_watch> signals;
  out.outcome = value_of(run_locally(std::move(config), signals)).outcome;
  return out;
}

} // namespace

CATCH_TEST_CASE("a split is measured for a cluster as by one process",
                "[actors][local_run]") {
  temp_folder folder;
  const auto info = value_of(write_example(folder.path()));
  auto alone = predicting_run(folder, "");
  alone.def.evaluate.neighbours = neighbour_use::sampled;
  alone.def.evaluate.scores = true;
  alone.def.sampler.fanouts = {1, 1};
  alone.mode = run_mode::evaluate;
  alone.evaluated = split::train;
  alone.drawn_as = drawn_as(split::train);
  alone.drawn_in = 2;
  auto other = alone.def;
  other.seed = 9; // Not what trainers begin with.
  alone.weights = value_of(replica::create(other, info))->parameters();
  auto together = predicting_run(folder, "");
  auto def = alone.def;
  def.evaluate.only = measured_split::train;
  def.train.epochs = 3; // The last of them counts.
  static_cast<run_setup&>(together) = cluster_setup(def);
  together.from =
    training_state{{},
                   {},
                   std::make_shared<const std::vector<named_tensor>>(
                     value_of(begin_state(def, info, alone.weights)))};
  const auto digest = weights_digest(alone.weights);
  const auto expected = measure_split(std::move(alone));
  CATCH_CHECK_FALSE(expected.outcome.failure);
  const auto got = measure_split(std::move(together));
  CATCH_CHECK_FALSE(got.outcome.failure);
  CATCH_CHECK(got.outcome.digest == digest);
  CATCH_CHECK(got.outcome.train_steps == 0);
  CATCH_REQUIRE(expected.told.size() == 1);
  CATCH_REQUIRE(got.told.size() == 1);
  const auto& one = got.told.front();
  CATCH_CHECK(one.phase == phase::test);
  CATCH_CHECK(one.epoch == 2);
  CATCH_CHECK(one.metrics.seeds == 2);
  const auto told = evaluation_json(one);
  CATCH_CHECK(told == evaluation_json(expected.told.front()));
  CATCH_CHECK(told.contains("roc_auc"));
}

CATCH_TEST_CASE("a definition that trains nothing does not train",
                "[actors][local_run]") {
  temp_folder folder;
  value_of(write_example(folder.path()));
  for (const std::string field : {"predict: true", "only: train"}) {
    std::optional<signal_watch> signals;
    const auto refused =
      run_locally(predicting_run(folder, ", " + field), signals);
    CATCH_REQUIRE_FALSE(refused);
    const auto name = field.substr(0, field.find(':'));
    CATCH_CHECK(
      refused.error().message.find("`evaluate." + name + "` is for a cluster")
      == 0);
  }
}

} // namespace graphmill::test
