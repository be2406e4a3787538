#include "pipelines/model/state_shapes.hpp"

#include "tests/pipelines/model/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace graphmill::test {

namespace {

std::vector<tensor_shape> shapes_of(const replica& model) {
  std::vector<tensor_shape> out;
  for (const auto& tensor : model.state())
    out.push_back({tensor.name, tensor.shape});
  return out;
}

/// A graph of two types of nodes, one of which has embeddings.
auto graph_with_table(std::uint64_t seed) {
  std::mt19937_64 random{seed};
  return random_graph(random, {.nodes = {40, 30},
                               .widths = {6, 0}, // 0: a table.
                               .edges = {{1, 0}, {0, 1}},
                               .in_edges = 3});
}

} // namespace

CATCH_TEST_CASE("a state is made of weights alone, as before the first step",
                "[model]") {
  const auto graph = graph_with_table(6);
  for (const auto kind : {optimizer_kind::adam, optimizer_kind::sgd}) {
    auto def = small_definition(model_kind::rgcn, 3);
    def.optimizer.kind = kind;
    auto other = def;
    other.seed += 1;
    const auto trained = value_of(replica::create(other, graph.info));
    trained->keep_best();
    const auto weights = trained->state(); // Of which no more is looked at.
    const auto loaded = value_of(replica::create(def, graph.info));
    CATCH_CHECK(loaded->digest() != trained->digest());
    value_of(loaded->load(weights));
    const auto wanted = loaded->state();
    const auto begin = value_of(begin_state(def, graph.info, weights));
    CATCH_REQUIRE(begin.size() == wanted.size());
    for (std::size_t i = 0; i < begin.size(); ++i) {
      CATCH_CHECK(begin[i].name == wanted[i].name);
      CATCH_CHECK(begin[i].shape == wanted[i].shape);
      CATCH_CHECK(begin[i].values == wanted[i].values);
    }
    const auto restored = value_of(replica::create(def, graph.info));
    value_of(restored->restore(begin, 0));
    CATCH_CHECK(restored->digest() == trained->digest());

    auto more = weights; // As of a kind that has this one and others.
    more.push_back(weights.front());
    more.back().name += "_of_another_model";
    const auto refused = error_of(begin_state(def, graph.info, more));
    CATCH_CHECK(refused.code == ec::invalid_data);
    CATCH_CHECK(refused.message.find(more.back().name) != std::string::npos);

    auto wrong = weights;
    wrong.front().shape.push_back(1);
    CATCH_CHECK(error_of(begin_state(def, graph.info, wrong)).code
                == ec::invalid_data);
    wrong.erase(wrong.begin());
    CATCH_CHECK(error_of(begin_state(def, graph.info, wrong)).code
                == ec::invalid_data);
  }
}

CATCH_TEST_CASE("weights are refused on a dataset without an edge type that "
                "they have learnt",
                "[model]") {
  std::mt19937_64 random{8};
  auto graph = random_graph(random, {.nodes = {40, 30, 20},
                                     .widths = {6, 5, 4},
                                     .edges = {{1, 0}, {0, 1}, {2, 0}},
                                     .in_edges = 3});
  add_edge_features(graph, random, 2);
  auto fewer = graph.info;
  fewer.edge_types.pop_back();
  for (const auto kind : all_kinds()) {
    if (!traits_of(kind).typed || !traits_of(kind).hears())
      continue;
    CATCH_INFO("kind " << int(kind));
    auto def = small_definition(kind, 2);
    if (!traits_of(kind).reads_edge_features())
      def.model.edge_features = edge_feature_use::ignore;
    const auto weights =
      value_of(replica::create(def, graph.info))->parameters();
    value_of(check_no_others(def, graph.info, weights));
    const auto refused = error_of(check_no_others(def, fewer, weights));
    CATCH_CHECK(refused.code == ec::invalid_data);
    CATCH_CHECK(refused.message
                == fmt::format("the weights have learnt from edges of type {}, "
                               "and dataset \"{}\" has no such edge type: "
                               "import it with that type, without edges if "
                               "there are none",
                               graph.info.edge_type_name(2), fewer.name));
  }
}

CATCH_TEST_CASE("it is known without a replica what one would restore",
                "[model]") {
  std::mt19937_64 random{5};
  const auto graph = random_graph(random, {.nodes = {40, 30},
                                           .widths = {6, 0},
                                           .edges = {{1, 0}, {0, 1}},
                                           .in_edges = 3});
  auto def = small_definition(model_kind::rgcn, 3);
  def.optimizer.kind = optimizer_kind::adam;
  const auto model = value_of(replica::create(def, graph.info));
  const auto check = [&](const definition& by) {
    const auto state = model->state();
    const auto said = check_restorable(by, graph.info, state);
    const auto restored =
      value_of(replica::create(by, graph.info))->restore(state, 0);
    CATCH_CHECK(static_cast<bool>(said) == static_cast<bool>(restored));
    return static_cast<bool>(said);
  };
  auto sgd = def, larger = def;
  sgd.optimizer.kind = optimizer_kind::sgd;
  larger.model.hidden *= 2;
  CATCH_CHECK(check(def));
  CATCH_CHECK(check(sgd)); // It needs fewer moments, or none.
  CATCH_CHECK_FALSE(check(larger));
  model->keep_best();
  CATCH_CHECK(check(def));
  CATCH_CHECK_FALSE(check(larger));
  // What was trained without moments is not gone on with by them.
  auto plain = model->state();
  std::erase_if(plain, [](const named_tensor& one) {
    return one.name.starts_with(state_names::first);
  });
  const auto said = error_of(check_restorable(def, graph.info, plain));
  CATCH_CHECK(said.code == ec::invalid_data);
  CATCH_CHECK(said.message.find("hold no tensor") != std::string::npos);
}

CATCH_TEST_CASE("the shapes of a state are known without one", "[model]") {
  const auto graph = graph_with_table(5);
  for (const auto kind : {optimizer_kind::adam, optimizer_kind::sgd}) {
    auto def = small_definition(model_kind::rgcn, 3);
    def.optimizer.kind = kind;
    const auto model = value_of(replica::create(def, graph.info));
    const auto plain = shapes_of(*model);
    CATCH_CHECK(check_state(def, graph.info, plain));
    model->keep_best();
    auto best = shapes_of(*model);
    CATCH_CHECK(best.size() > plain.size());
    CATCH_CHECK(check_state(def, graph.info, best));
    std::uint64_t values = 0;
    for (const auto& one : best)
      values += one.size();
    CATCH_CHECK(most_state_values(def, graph.info) == values);
    auto wide = plain;
    wide.front().shape.front() = 1'000'000'000'000;
    CATCH_CHECK(error_of(check_state(def, graph.info, wide)).code
                == ec::invalid_data);
    auto named = plain;
    named.back().name = "w";
    CATCH_CHECK_FALSE(check_state(def, graph.info, named));
    best.pop_back(); // Some of the best ones alone are none.
    CATCH_CHECK_FALSE(check_state(def, graph.info, best));
    CATCH_CHECK_FALSE(check_state(def, graph.info, {}));
  }
}

} // namespace graphmill::test
