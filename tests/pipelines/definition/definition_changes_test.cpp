#include "pipelines/definition/definition_changes.hpp"
#include "pipelines/definition/definition_file.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <string>
#include <vector>

namespace graphmill::test {

CATCH_TEST_CASE("what changes the weights is named, and nothing else",
                "[definition]") {
  const std::string before = "dataset: d\nsampler: {fanouts: [3, 3]}\n";
  const auto changes = [&before](const std::vector<std::string>& overrides) {
    const auto old = parse_definition(before, "x.yaml");
    const auto now = parse_definition(before, "x.yaml", overrides);
    CATCH_REQUIRE(now.problems.empty());
    return changes_between(old.value, now.value);
  };
  using texts = std::vector<std::string>;
  CATCH_CHECK(changes({}) == texts{});
  CATCH_CHECK(
    changes({"name=other", "dataset=e", "sampler.replicas=2",
             "sampler.threads=2", "fetch.replicas=2", "fetch.threads=2",
             "fetch.cache=1 MiB", "fetch.cache_order=degree",
             "fetch.verify=0.5", "trainer.threads=3", "trainer.step_timeout=60",
             "train.record_steps=true", "evaluate.scores=true",
             "budget.batches=1", "faults.crash_every=7",
             "placement.trainers=[a]", "checkpoint.keep=9", "recovery.wait=0",
             "model.weights=w"})
    == texts{});
  CATCH_CHECK(changes({"train.epochs=20", "optimizer.learning_rate=0.5",
                       "trainer.replicas=2", "seed=2"})
              == texts{"seed: 1, now 2", "trainer.replicas: 1, now 2",
                       "optimizer.learning_rate: 0.01, now 0.5",
                       "train.epochs: 10, now 20"});
  CATCH_CHECK(
    changes({"trainer.replicas={min: 1, max: 4}", "trainer.sizes=[0/0:1]"})
    == texts{"trainer.replicas: 1, now {min: 1, max: 4}",
             "trainer.sizes: [], now [\"0/0:1\"]"});
  CATCH_CHECK(changes({"sampler.fanouts=[3, 4]"})
              == texts{"sampler.fanouts: [3, 3], now [3, 4]"});
  CATCH_CHECK(changes({"sampler.fanouts.a=[1, 2]"})
              == texts{"sampler.fanouts of edge types"});
}

CATCH_TEST_CASE("a definition that changes the weights is refused",
                "[definition]") {
  const auto old = parse_definition("dataset: d\n", "x.yaml").value;
  auto now = old;
  value_of(check_unchanged(old, now));
  now.train.epochs = 11;
  CATCH_CHECK_THAT(error_of(check_unchanged(old, now)).message,
                   contains("(train.epochs: 10, now 11)")
                     && contains("--with-changes"));
}

CATCH_TEST_CASE("no run goes on by another metric, nor on another label set",
                "[definition]") {
  const auto old = parse_definition("dataset: d\n", "x.yaml").value;
  auto now = old;
  now.train.epochs = 11;
  value_of(check_same_validation(old, now));
  const auto refused = [&old](auto change, const char* field) {
    auto other = old;
    change(other);
    CATCH_CHECK_THAT(
      error_of(check_same_validation(old, other)).message,
      contains(std::string{"`"} + field + "` has chosen the best epoch"));
  };
  refused([](definition& def) { def.task = "t"; }, "task");
  refused([](definition& def) { def.evaluate.negatives = 7; },
          "evaluate.negatives");
  refused([](definition& def) { def.negatives.corrupt = corrupted_end::both; },
          "negatives.corrupt");
  now.labels = "fold2";
  CATCH_CHECK_THAT(error_of(check_same_validation(old, now)).message,
                   contains("`labels`") && contains("new run"));
  auto other = old;
  other.evaluate.metric = evaluation_metric::loss;
  CATCH_CHECK_THAT(error_of(check_same_validation(old, other)).message,
                   contains("`evaluate.metric`") && contains("new run"));
  other = old;
  other.evaluate.metric_detail = ":fraud";
  CATCH_CHECK_THAT(error_of(check_same_validation(old, other)).message,
                   contains("`evaluate.metric`"));
  other = old;
  other.evaluate.threshold = "0.5:fraud";
  CATCH_CHECK_THAT(error_of(check_same_validation(old, other)).message,
                   contains("`evaluate.threshold`"));
}

} // namespace graphmill::test
