#include "messages/words/byte_text.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "pipelines/planning/budget_note.hpp"
#include "pipelines/planning/run_plan.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

using namespace graphmill;

namespace {

dataset_info tiny_info() {
  dataset_info info;
  info.name = std::string{"d"};
  info.node_types.resize(1);
  info.node_types[0] = {"node", 1000, 4, dtype::float32, 3, {}, {25, 6, 7}};
  info.edge_types.resize(1);
  info.edge_types[0] = {0, "links", 0, 5000, 10, dtype::int32};
  return info;
}

run_plan plan_of(std::string_view text, const dataset_info& info) {
  const auto source = parse_definition(text, "x.yaml");
  CATCH_REQUIRE(source.problems.empty());
  return test::value_of(plan_run(source.value, info, 2));
}

} // namespace

CATCH_TEST_CASE("a plan worked out on paper", "[definition][plan]") {
  const auto plan = plan_of("{dataset: d, sampler: {fanouts: [2, 3]}, "
                            "train: {batch_size: 10, epochs: 4}, "
                            "trainer: {replicas: 3}, "
                            "evaluate: {batch_size: 5, neighbours: all}}",
                            tiny_info());
  // 10 seeds over 3 trainers: 4 at most; 4 * 2 and 8 * 3 edges.
  CATCH_CHECK(plan.train.seeds == 4);
  CATCH_CHECK(plan.train.steps == 3);
  CATCH_CHECK(plan.train.edges == 32);
  CATCH_CHECK(plan.train.nodes == 36);
  CATCH_CHECK(plan.total_steps == 12);
  // 5 of 7 test seeds over 3 trainers: 2; 10 in-edges each, then 20 nodes.
  CATCH_CHECK(plan.evaluation.seeds == 2);
  CATCH_CHECK(plan.evaluation.steps == 2);
  CATCH_CHECK(plan.evaluation.edges == 20 + 200);
  CATCH_CHECK(plan.batches_in_flight == 12);
  std::vector<std::string> names;
  for (const auto& stage : plan.stages)
    names.push_back(stage.name);
  CATCH_CHECK(names
              == std::vector<std::string>{
                "sampler", "sampling service", "fetcher", "feature service",
                "batcher", "trainer", "gradient group"});
  CATCH_CHECK(plan.stages[1].replicas == 2); // a service per part
  CATCH_CHECK(plan.stages[5].replicas == 3);
  CATCH_CHECK(plan.memory[0].bytes == 1ull << 30);
  CATCH_CHECK(plan.total_memory() > (1ull << 30) + memory_allowance);
  CATCH_CHECK(plan.notes.empty());
}

CATCH_TEST_CASE("a plan says how far batches may exceed their budget",
                "[definition][plan]") {
  const auto text = [](std::string_view bytes) {
    return fmt::format("{{dataset: d, train: {{batch_size: 10}}, budget: "
                       "{{bytes: {}}}}}",
                       bytes);
  };
  const auto plan = plan_of(text("1 KiB"), tiny_info());
  const auto largest = std::max(plan.train.bytes, plan.evaluation.bytes);
  CATCH_REQUIRE(plan.notes.size() == 1);
  CATCH_CHECK(note_on_budget(plan) == plan.notes[0]);
  CATCH_CHECK_THAT(plan.notes[0],
                   test::contains("may take up to " + byte_text(largest)
                                  + ", and budget.bytes is 1.00 KiB"));
  CATCH_CHECK(
    plan_of(text(std::to_string(largest)), tiny_info()).notes.empty());
}

CATCH_TEST_CASE("a plan counts the split with the larger batches",
                "[definition][plan]") {
  auto info = tiny_info();
  edge_task_info task;
  task.name = "links";
  task.edge_types = {0};
  task.reverse_types.resize(1);
  task.split_counts = {25, 6, 7};
  task.negative_counts = {0, 0, 1}; // Others of the test are not drawn.
  info.tasks = {task};
  const auto plan =
    plan_of("{dataset: d, task: links, sampler: {fanouts: [2]}, "
            "evaluate: {batch_size: all, negatives: all}}",
            info);
  CATCH_CHECK(plan.evaluation.seeds == 6);
  CATCH_CHECK(plan.evaluation.nodes == 1000);
}

CATCH_TEST_CASE("a plan says when there are very many classes",
                "[definition][plan]") {
  auto info = tiny_info();
  info.node_types[0].count = 100'000;
  info.node_types[0].class_count = 50'000;
  const auto plan = plan_of("{dataset: d, train: {batch_size: 10}, "
                            "evaluate: {batch_size: 5}}",
                            info);
  // 10 seeds * 50,000 classes * 4 bytes
  CATCH_REQUIRE(plan.notes.size() == 1);
  CATCH_CHECK(plan.notes[0].find("50000 classes") != std::string::npos);
  CATCH_CHECK(plan.notes[0].find("1.91 MiB") != std::string::npos);
}

CATCH_TEST_CASE("a plan says what the number of trainers depends on",
                "[definition][plan][sizes]") {
  const auto note_of = [](const std::string& trainer) {
    const auto plan = plan_of("{dataset: d, train: {batch_size: 10}, "
                              "evaluate: {batch_size: 5}, trainer: "
                                + trainer + "}",
                              tiny_info());
    CATCH_REQUIRE(plan.notes.size() == 1);
    CATCH_CHECK(plan.stages[5].replicas == 3);
    return plan.notes[0];
  };
  CATCH_CHECK_THAT(note_of("{replicas: {min: 2, max: 3}}"),
                   test::contains("has from 2 to 3 trainers"));
  CATCH_CHECK_THAT(
    note_of("{replicas: {min: 2, max: 3}, sizes: [0/0:3, 1/4:2]}"),
    test::contains("`trainer.sizes` says: 0/0:3, 1/4:2;"));
}

CATCH_TEST_CASE("a plan bounds the cache of remote rows",
                "[definition][plan]") {
  const auto memory_of = [](std::string_view fetch, part_id parts) {
    const auto source = parse_definition(
      fmt::format("{{dataset: d, fetch: {}}}", fetch), "x.yaml");
    CATCH_REQUIRE(source.problems.empty());
    return test::value_of(plan_run(source.value, tiny_info(), parts)).memory;
  };
  const auto name = std::string_view{"cache of remote rows"};
  CATCH_CHECK(memory_of("{}", 2)[1].name != name);
  CATCH_CHECK(memory_of("{cache: 4 KiB}", 1)[1].name != name);
  const auto some = memory_of("{cache: 1600}", 2)[1];
  CATCH_CHECK(some.name == name);
  // 100 rows of 4 values, an id and slots each.
  CATCH_CHECK(some.bytes == 1600 + 100 * 24);
  // No more than there are.
  CATCH_CHECK(memory_of("{cache: 1 TiB}", 2)[1].bytes == 1000 * (16 + 24));
}

CATCH_TEST_CASE("a plan says what is odd", "[definition][plan]") {
  auto info = tiny_info();
  info.edge_types[0].count = 0;
  const auto plan = plan_of("{dataset: d, train: {batch_size: 2, max_steps: 5},"
                            " trainer: {replicas: 3}, budget: {bytes: 1}}",
                            info);
  CATCH_CHECK(plan.notes.size() == 3);
  CATCH_CHECK(plan.total_steps == 5);
  CATCH_CHECK(plan.memory[0].bytes
              == std::max(plan.train.bytes, plan.evaluation.bytes));
}
