#include "pipelines/definition/validation/time_checks.hpp"
#include "pipelines/task/chosen_target.hpp"
#include "tests/pipelines/definition/problems.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/result.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test::time_checks {

namespace {

/// People who buy things at times, with a task of links and classes of people.
dataset_info market(bool timed = true, bool timed_nodes = false) {
  dataset_info info;
  info.name = "market";
  info.node_types.resize(2);
  for (auto& type : info.node_types) {
    type.feature_width = 3;
    type.count = 500;
    type.timed = timed_nodes;
  }
  info.node_types[0].name = "person";
  info.node_types[0].class_count = 2;
  info.node_types[0].split_counts = {10, 5, 5};
  info.node_types[1].name = "thing";
  info.edge_types = {{0, "buys", 1, 200, 10, dtype::int32},
                     {1, "rev_buys", 0, 200, 10, dtype::int32}};
  for (auto& type : info.edge_types)
    type.timed = timed;
  edge_task_info links;
  links.name = "links";
  links.edge_types = {0};
  links.reverse_types = {1};
  links.split_counts = {100, 20, 30};
  links.timed = timed;
  info.tasks = {links};
  return info;
}

using texts = std::vector<std::string>;

void check_refused(const std::string& rest, const std::string& said,
                   const dataset_info& info = market()) {
  check_one_problem(rest, said, info);
}

const std::string strict =
  "task: links, sampler: {time: strict, disjoint: true";

} // namespace

CATCH_TEST_CASE("definitions with times that can run have no problems",
                "[definition][validation][times]") {
  for (const auto& rest :
       {strict + "}", strict + ", latest: true, window: 5}",
        strict + "}, evaluate: {visible: past}",
        std::string{"task: links, sampler: {time: inclusive}, train: {shuffle: "
                    "false}"},
        std::string{"task: links, sampler: {time: ignore}"},
        std::string{"sampler: {time: ignore}"}}) {
    CATCH_INFO(rest);
    CATCH_CHECK(typed_problems(rest, market()) == texts{});
  }
  CATCH_CHECK(typed_problems("sampler: {time: strict, disjoint: true}",
                             market(true, true))
              == texts{});
  CATCH_CHECK(typed_problems("task: links", market(false)) == texts{});
  CATCH_CHECK(typed_problems("train: {shuffle: false}", market(false))
              == texts{});
  // It hears nobody.
  CATCH_CHECK(problems_with(parse_definition("{dataset: market, task: links, "
                                             "model: {kind: lookup}}",
                                             "x.yaml"),
                            market())
                .empty());
}

CATCH_TEST_CASE("no time is ignored without a word",
                "[definition][validation][times]") {
  check_refused("task: links", "edges of `market` have times: say");
  check_refused("task: links, sampler: {time: strict, disjoint: true}",
                "is for edges with times, and `market` has none",
                market(false));
  check_refused("task: links, sampler: {time: ignore}",
                "is for edges with times", market(false));
  for (const auto* field : {"latest: true", "window: 3", "disjoint: true"})
    check_refused(fmt::format("sampler: {{{}}}", field),
                  "is for `sampler.time: strict` or `inclusive`",
                  market(false));
  check_refused("task: links, evaluate: {visible: past}",
                "is for `sampler.time: strict`; say that", market(false));
}

CATCH_TEST_CASE("what has no meaning together with times is refused",
                "[definition][validation][times]") {
  check_refused("sampler: {time: strict, disjoint: true}",
                "nodes of type `person` of `market` have none");
  auto rows = market();
  rows.tasks[0].timed = false;
  check_refused(strict + "}", "task `links` of `market` has none", rows);
  auto mixed = market();
  mixed.edge_types[0].timed = false;
  check_refused(strict + "}", "task `links` of `market` has none", mixed);
  check_refused(strict + ", latest: true, replace: true}",
                "`sampler.latest` takes the last edges, and `sampler.replace`");
  check_refused(strict + ", latest: true}, evaluate: {neighbours: all}",
                "`evaluate.neighbours: all` takes all edges");
  check_refused(strict + ", method: labor}", "share none");
  check_refused("task: links, sampler: {time: strict}",
                "set `train.shuffle: false`");
  check_refused("task: links, sampler: {time: inclusive, disjoint: true}, "
                "evaluate: {visible: past}",
                "and with `sampler.time: inclusive` themselves");
  check_refused("sampler: {time: strict, disjoint: true}, evaluate: {visible: "
                "past}",
                "nodes are learnt", market(true, true));
  check_refused(strict + "}, negatives: {kind: joint}", "use per_edge");
  check_refused(strict + "}, evaluate: {negatives: all}",
                "a tree of all of them");
  // Nodes that are not there yet.
  const std::string shared =
    "task: links, sampler: {time: strict}, train: {shuffle: false}, ";
  const auto born = market(true, true);
  check_refused(shared + "negatives: {kind: joint}", "have times, before which",
                born);
  check_refused(shared + "negatives: {corrupt: pair}",
                "have times, before which", born);
  check_refused(shared + "negatives: {weight: degree}",
                "have times, before which", born);
  check_refused(shared + "evaluate: {negatives: all}",
                "have times, before which", born);
  CATCH_CHECK(typed_problems(shared + "negatives: {kind: joint}", market())
              == texts{});
}

CATCH_TEST_CASE("a model that divides by degrees takes no times",
                "[definition][validation][times]") {
  auto info = market();
  info.node_types.resize(1);
  info.edge_types = {{0, "knows", 0, 200, 10, dtype::int32}};
  info.edge_types[0].timed = true;
  info.tasks[0].reverse_types = {std::nullopt};
  const auto source = parse_definition("{dataset: market, task: links, model: "
                                       "{kind: gcn}, sampler: {time: strict, "
                                       "disjoint: true}}",
                                       "x.yaml");
  const auto found = problems_with(source, info);
  CATCH_REQUIRE(found.size() == 1);
  CATCH_CHECK_THAT(found[0].text, contains("divides by degrees"));
}

CATCH_TEST_CASE("batches for other models are sampled by time as others",
                "[definition][validation][times]") {
  const auto problems = [](const std::string& rest) {
    return typed_problems(rest, market(), data_use::feeding);
  };
  // Models, shuffling and the type of seeds are decided elsewhere.
  for (const auto& rest :
       {strict + "}", std::string{"task: links, sampler: {time: inclusive}"},
        std::string{"task: links, sampler: {time: ignore}"},
        std::string{"sampler: {time: strict, disjoint: true}"}}) {
    CATCH_INFO(rest);
    CATCH_CHECK(problems(rest) == texts{});
  }
  for (const auto& [rest, said] :
       {std::pair{std::string{"task: links"}, "say `sampler.time: strict`"},
        std::pair{strict + ", latest: true, replace: true}",
                  "`sampler.latest` takes the last edges"}}) {
    CATCH_INFO(rest);
    const auto found = problems(rest);
    CATCH_REQUIRE(found.size() == 1);
    CATCH_CHECK_THAT(found[0], contains(said));
  }
}

CATCH_TEST_CASE("pairs that are named have no window",
                "[definition][validation][times]") {
  definition def;
  def.sampler.window = 3;
  value_of(check_named_pairs(def));
  def.sampler.time = time_use::strict;
  const auto done = check_named_pairs(def);
  CATCH_REQUIRE_FALSE(done);
  CATCH_CHECK_THAT(done.error().message, contains("would see nothing"));
  def.sampler.window = 0;
  value_of(check_named_pairs(def));
}

CATCH_TEST_CASE("pairs that are named know no ages",
                "[definition][validation][times]") {
  definition def;
  def.model.edge_ages = edge_age_use::log;
  value_of(check_named_pairs(def));
  def.sampler.time = time_use::strict;
  CATCH_CHECK_THAT(error_of(check_named_pairs(def)).message,
                   contains("edges have no ages for them"));
}

CATCH_TEST_CASE("a window is in seconds, or in steps",
                "[definition][validation][times]") {
  definition def;
  def.sampler.window = 3;
  CATCH_CHECK(time_rule_of(def, market()) == time_rule{});
  def.sampler.time = time_use::inclusive;
  def.sampler.latest = true;
  auto info = market();
  CATCH_CHECK(time_rule_of(def, info)
              == time_rule{true, true, true, 3'000'000, false});
  info.ticks_per_second = 1;
  def.sampler.disjoint = true;
  CATCH_CHECK(time_rule_of(def, info) == time_rule{true, true, true, 3, true});
  info.ticks_per_second = 1'000'000;
  def.sampler.window = 1ull << 60;
  CATCH_CHECK(time_rule_of(def, info).window
              == std::numeric_limits<std::int64_t>::max());
}

CATCH_TEST_CASE(
  "rows see what is held out where lists are in the order of time",
  "[definition][validation][times]") {
  memory_graph graph;
  graph.nodes = {{"n", 4}};
  graph.edges = {{0, "to", 0, std::vector<std::vector<node_id>>(4)}};
  auto& type = graph.edges[0];
  type.in[2] = {0, 1, 3, 0};
  type.levels.resize(4);
  type.levels[2] = {0, 0, 1, 2};
  type.times.resize(4);
  definition def;
  def.evaluate.visible = visible_edges::past;
  const auto checked = [&](std::vector<std::int64_t> times) {
    type.times[2] = std::move(times);
    return check_visible_past(def, *whole(graph).shards[0]);
  };
  value_of(checked({3, 5, 5, 9}));
  for (const auto& times : {std::vector<std::int64_t>{3, 5, 4, 9},
                            std::vector<std::int64_t>{3, 5, 9, 8}})
    CATCH_CHECK_THAT(error_of(checked(times)).message,
                     contains("`n__to__n` to node 2")
                       && contains("--roll-forward"));
  type.levels[2] = {0, 0, 2, 2}; // No edge is of level 1.
  value_of(checked({3, 5, 5, 9}));
  CATCH_CHECK_FALSE(checked({3, 5, 4, 9}));
  def.evaluate.visible = visible_edges::training;
  value_of(checked({3, 5, 4, 9}));
}

CATCH_TEST_CASE("sentences on what is visible name the setting that it needs",
                "[definition][validation][times]") {
  const std::string past = "evaluate: {visible: past}";
  for (const auto& sampler :
       {"task: links, sampler: {time: ignore}, ",
        "task: links, sampler: {time: inclusive, disjoint: true}, "})
    check_refused(sampler + past, "`sampler.time: strict`");
  CATCH_CHECK_THAT(
    typed_problems("task: links, sampler: {time: ignore}, " + past, market())
      .at(0),
    !contains("inclusive"));
}

} // namespace graphmill::test::time_checks
