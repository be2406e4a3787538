#include "pipelines/definition/validation/sampling_checks.hpp"
#include "tests/pipelines/definition/problems.hpp"
#include "tests/support/result.hpp"

#include <string>
#include <vector>

namespace graphmill::test::sampling_checks {

namespace {

/// People who like each other and read books, of whom some also wrote some.
dataset_info library() {
  dataset_info info;
  info.name = "library";
  info.node_types.resize(2);
  for (auto& type : info.node_types) {
    type.feature_width = 3;
    type.count = 500;
  }
  info.node_types[0].name = "person";
  info.node_types[0].class_count = 2;
  info.node_types[0].split_counts = {10, 5, 5};
  info.node_types[1].name = "book";
  info.edge_types = {{0, "likes", 0, 200, 10, dtype::int32},
                     {0, "reads", 1, 200, 10, dtype::int32},
                     {1, "rev_reads", 0, 200, 10, dtype::int32},
                     {1, "by", 0, 200, 10, dtype::int32}};
  return info;
}

using texts = std::vector<std::string>;

texts problems_of(const std::string& rest, const dataset_info& info = library(),
                  data_use use = data_use::training) {
  return typed_problems(rest, info, use);
}

void check_refused(const std::string& rest, const std::string& said,
                   const dataset_info& info = library()) {
  check_one_problem(rest, said, info);
}

} // namespace

CATCH_TEST_CASE("edges with reverses can be taken both ways",
                "[definition][validation][sampling]") {
  check_refused("sampler: {subgraph: bidirectional}",
                "edge type `book__by__person` of `library` has no reverse type "
                "(rev_by)");
  CATCH_CHECK(problems_of("sampler: {subgraph: induced}") == texts{});
  const std::string used = "sampler: {subgraph: bidirectional, fanouts: "
                           "{default: [2, 2], by: [0, 0]}}";
  CATCH_CHECK(problems_of(used) == texts{});
  const auto scheme = value_of(resolve_fanouts(
    parse_definition("{dataset: library, " + used + "}", "x.yaml").value,
    library()));
  CATCH_CHECK(scheme.subgraph == subgraph_kind::bidirectional);
  CATCH_CHECK(scheme.opposites == std::vector<edge_type_id>{0, 2, 1, -1});
  CATCH_CHECK(scheme.blocks() == 2);
}

CATCH_TEST_CASE("types are taken both ways or not at all",
                "[definition][validation][sampling]") {
  check_refused(
    "sampler: {subgraph: bidirectional, fanouts: {default: [2, 2], "
    "by: [0, 0], rev_reads: [0, 0]}}",
    "`person__reads__book` of `library` is sampled, and that of its "
    "reverses, `book__rev_reads__person`, is not");
}

CATCH_TEST_CASE("walks between two types need a way back",
                "[definition][validation][sampling]") {
  check_refused(
    "sampler: {method: pinsage}",
    "edge type `book__by__person` of `library` has no reverse type");
  const std::string used =
    "sampler: {method: pinsage, walks: 7, walk_length: 4, "
    "restart: 0.25, fanouts: {default: [2, 2], by: [0, 0], "
    "rev_reads: [0, 0]}}";
  CATCH_CHECK(problems_of(used) == texts{});
  const auto def =
    parse_definition("{dataset: library, " + used + "}", "x.yaml").value;
  const auto scheme = value_of(resolve_fanouts(def, library()));
  CATCH_CHECK(scheme.method == sampling_method::pinsage);
  CATCH_CHECK(scheme.walk == walk_rule{7, 4, std::uint64_t{1} << 30});
  CATCH_CHECK(scheme.opposites == std::vector<edge_type_id>{0, 2, -1, -1});
  CATCH_CHECK(scheme.subgraph == subgraph_kind::directional);
  CATCH_CHECK(scheme.weights);
  CATCH_CHECK(scheme.weighs(library().edge_types[0]));
  CATCH_CHECK(value_of(resolve_evaluation_fanouts(def, library())).walk
              == scheme.walk);
  auto features = library();
  features.edge_types.resize(1);
  features.edge_types[0].feature_width = 2;
  check_refused("sampler: {method: pinsage}", "makes edges of visits",
                features);
  auto one = library();
  one.node_types.resize(1);
  one.edge_types.resize(1);
  const auto source = parse_definition(
    "{dataset: library, model: {kind: gcn}, sampler: {method: pinsage}}",
    "x.yaml");
  const auto found = problems_with(source, one);
  CATCH_REQUIRE(found.size() == 1);
  CATCH_CHECK_THAT(found[0].text, contains("gcn divides by degrees"));
  CATCH_CHECK(problems_with(source, one, data_use::feeding).empty());
}

CATCH_TEST_CASE("budgets are of node types",
                "[definition][validation][sampling]") {
  check_refused("sampler: {method: hgt, fanouts: {default: [9], reads: [3]}}",
                "`library` has no node type `reads`");
  const auto def =
    parse_definition("{dataset: library, sampler: {method: hgt, fanouts: "
                     "{default: [9, 8], book: [0, 3]}}}",
                     "x.yaml")
      .value;
  const auto scheme = value_of(resolve_fanouts(def, library()));
  CATCH_CHECK(scheme.method == sampling_method::hgt);
  CATCH_CHECK(scheme.subgraph == subgraph_kind::induced);
  CATCH_CHECK(scheme.budgets
              == std::vector<std::vector<std::int32_t>>{{9, 0}, {8, 3}});
  CATCH_CHECK(scheme.fanouts
              == std::vector<std::vector<std::int32_t>>(
                2, std::vector<std::int32_t>(4, 520)));
  auto all = def;
  all.evaluate.neighbours = neighbour_use::all;
  const auto evaluation = value_of(resolve_evaluation_fanouts(all, library()));
  CATCH_CHECK(evaluation.method == sampling_method::uniform);
  CATCH_CHECK(evaluation.subgraph == subgraph_kind::directional);
  CATCH_CHECK(evaluation.budgets.empty());
  CATCH_CHECK(evaluation.fanouts.front() == std::vector<std::int32_t>(4, -1));
}

CATCH_TEST_CASE("walks from seeds take all edges among their nodes",
                "[definition][validation][sampling]") {
  const auto def =
    parse_definition("{dataset: library, sampler: {method: saint, walk_length: "
                     "3, fanouts: {default: [all, all], by: [0, 0]}}}",
                     "x.yaml")
      .value;
  const auto scheme = value_of(resolve_fanouts(def, library()));
  CATCH_CHECK(scheme.method == sampling_method::saint);
  CATCH_CHECK(scheme.subgraph == subgraph_kind::induced);
  CATCH_CHECK(scheme.walk == walk_rule{1, 3, 0});
  CATCH_CHECK(scheme.samples(0));
  CATCH_CHECK(!scheme.samples(3));
}

CATCH_TEST_CASE("reverses have no features",
                "[definition][validation][sampling]") {
  auto info = library();
  info.edge_types.resize(1);
  info.edge_types[0].feature_width = 2;
  check_refused("sampler: {subgraph: bidirectional}",
                "adds edges without features, which the model reads", info);
  CATCH_CHECK(problems_of("sampler: {subgraph: induced}", info) == texts{});
  CATCH_CHECK(
    problems_of("sampler: {subgraph: bidirectional}", info, data_use::feeding)
    == texts{});
}

CATCH_TEST_CASE("evaluations that take all neighbours have directional batches",
                "[definition][validation][sampling]") {
  for (const std::string word : {"induced", "bidirectional"}) {
    const auto source =
      parse_definition("{dataset: library, sampler: {subgraph: " + word
                         + ", fanouts: {default: [2, 2], by: [0, 0]}}, "
                           "evaluate: {neighbours: all}}",
                       "x.yaml");
    CATCH_CHECK(value_of(resolve_fanouts(source.value, library())).subgraph
                != subgraph_kind::directional);
    CATCH_CHECK(
      value_of(resolve_evaluation_fanouts(source.value, library())).subgraph
      == subgraph_kind::directional);
  }
}

} // namespace graphmill::test::sampling_checks
