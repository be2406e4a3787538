#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/definition/validation/value_checks.hpp"
#include "tests/support/catch.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

using namespace graphmill;

namespace {

/// Movies with two numbers for labels each.
dataset_info info_of_values() {
  dataset_info info;
  info.name = "films";
  auto& movies = info.node_types.emplace_back();
  movies.name = "movie";
  movies.count = 100;
  movies.feature_width = 3;
  movies.labels = label_kind::regression;
  movies.class_count = 2;
  movies.split_counts = {10, 4, 5};
  info.edge_types = {{0, "like", 0, 200, 10, dtype::int32}};
  return info;
}

std::vector<std::string> sentences_on(const std::string& text,
                                      const dataset_info& info) {
  const auto source = parse_definition(text, "x.yaml");
  CATCH_REQUIRE(source.problems.empty());
  std::vector<std::string> out;
  for (const auto& problem : problems_with(source, info))
    out.push_back(problem.text);
  return out;
}

} // namespace

CATCH_TEST_CASE("labels that are numbers take metrics and losses of their own",
                "[definition][validation]") {
  auto info = info_of_values();
  auto& target = info.node_types[0];
  const std::string begin = "{dataset: films, ";
  const auto one_problem = [&](const std::string& rest, const char* expected) {
    CATCH_INFO(rest);
    const auto found = sentences_on(begin + rest, info);
    CATCH_REQUIRE(found.size() == 1);
    CATCH_CHECK(found[0].find(expected) != std::string::npos);
  };
  const std::string by_mse = "evaluate: {metric: mse}, ";
  for (const auto* good :
       {"evaluate: {metric: mse}}", "evaluate: {metric: mae}}",
        "evaluate: {metric: mse}, train: {loss: mae}}",
        "evaluate: {metric: mae}, train: {loss: huber, patience: 3}}"})
    CATCH_CHECK(sentences_on(begin + good, info).empty());
  // Without validations one of the two has to stand there, too.
  target.split_counts[1] = 0;
  for (const auto* good :
       {"evaluate: {metric: mse}}", "evaluate: {metric: mae}}"})
    CATCH_CHECK(sentences_on(begin + good, info).empty());
  target.split_counts[1] = 4;
  for (const auto* wrong : {"train: {loss: mae}}", "evaluate: {metric: loss}}",
                            "evaluate: {metric: f1_micro}}"})
    one_problem(wrong, "labels of `films` are numbers, for which "
                       "`evaluate.metric` is mse or mae");
  for (const auto* wrong : {"label_smoothing: 0.1", "class_weights: [1, 2]",
                            "balance_classes: true"})
    one_problem(fmt::format("{}train: {{{}}}}}", by_mse, wrong),
                "is for one class for each node, and nodes of `films` have "
                "numbers for labels; leave it out");
  one_problem("evaluate: {metric: mse, scores: true}}",
              "`evaluate.scores` is for classes");
  // So many seeds that their values would not fit into a message.
  target.count = target.split_counts[1] = 10'000'000;
  one_problem("evaluate: {metric: mse, batch_size: all}}",
              "`evaluate.batch_size` may be 1048576 at the most");
  target.count = target.split_counts[1] = 20'000'000;
  one_problem("evaluate: {metric: mse}}",
              "20000000 seeds of `films` are more than the 16777216 that can "
              "be");
  target.count = target.split_counts[1] = 4;
  target.labels = label_kind::classes;
  one_problem("evaluate: {metric: mae}}",
              "mse and mae are for labels that are numbers");
  one_problem("train: {loss: huber}}",
              "`train.loss` is for labels that are numbers");
  // As run folders have it, where every field is written.
  CATCH_CHECK(sentences_on(begin + "train: {loss: mse}}", info).empty());
}

CATCH_TEST_CASE("metrics of too many numbers are missing with a word",
                "[definition][validation]") {
  auto info = info_of_values();
  CATCH_CHECK_FALSE(note_on_values(info, 16'777'216)); // 2^26 / (2 * 2)
  CATCH_CHECK(note_on_values(info, 16'777'217)
              == "metrics of numbers take all seeds of a split together, and "
                 "16777217 seeds of `films` are more than the 16777216 that "
                 "can be");
  info.node_types[0].labels = label_kind::multi_label;
  CATCH_CHECK_FALSE(note_on_values(info, 16'777'217));
}
