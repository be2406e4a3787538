#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/pipelines/model/numeric_gradients.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/value_list.hpp"

#include <cmath>

namespace graphmill::test {

namespace {

/// With features of edges, where they are not ignored.
toy_graph graph_with_ages(model_kind kind, std::mt19937_64& random) {
  auto graph = graph_with_edge_features(kind, random);
  add_ages(graph, random, traits_of(kind).typed);
  return graph;
}

definition aged_definition(model_kind kind, int layers, edge_age_use use) {
  auto def = small_definition(kind, layers);
  def.sampler.time = time_use::strict;
  def.sampler.disjoint = true;
  def.model.edge_ages = use;
  def.model.age_unit = 2;
  def.model.age_width = 3;
  return def;
}

std::string trained_with_ages(const toy_graph& graph, const definition& def) {
  return digest_after(3, graph, def, {2, 0, 5}, 2);
}

} // namespace

CATCH_TEST_CASE("gradients of ages of edges equal numeric derivatives",
                "[compute][edge_ages]") {
  const auto kind = GENERATE(from_range(edge_reading_kinds()));
  const auto use = GENERATE(edge_age_use::log, edge_age_use::cosine);
  const auto layers = GENERATE(1, 2);
  const auto extras = GENERATE(false, true); // Dropout, norm and weights.
  const auto fanout = extras ? 2 : -1;
  CATCH_INFO("kind " << int(kind) << ", use " << int(use) << ", layers "
                     << layers << ", fanout " << fanout << ", extras " << extras
                     << ", seed 61");
  std::mt19937_64 random{61};
  auto def = aged_definition(kind, layers, use);
  auto graph = graph_with_ages(kind, random);
  if (extras) {
    def.model.dropout = 0.3;
    def.model.layer_norm = true;
    def.model.edge_features = edge_feature_use::ignore; // Ages alone.
    add_attention_options(def);
    if (traits_of(kind).weighs_edges())
      add_weights(graph, random);
  }
  CATCH_CHECK(needs_of(def, graph.info).ages);
  CATCH_CHECK(needs_of(def, graph.info).edge_features == !extras);
  check_gradients(def, graph, {2, 0, 5}, fanout, random);
}

CATCH_TEST_CASE("frequencies of ages begin with a second and end with decades",
                "[compute][edge_ages]") {
  std::mt19937_64 random{62};
  const auto graph = graph_with_ages(model_kind::sage, random);
  auto def = aged_definition(model_kind::sage, 1, edge_age_use::cosine);
  const auto begun = [&](std::uint32_t width) {
    def.model.age_width = width;
    const auto model = value_of(replica::create(def, graph.info));
    for (const auto& tensor : model->parameters())
      if (tensor.name == "age.log_frequency")
        return std::vector<float>(tensor.values.begin(), tensor.values.end());
    return std::vector<float>{};
  };
  CATCH_CHECK(begun(1) == std::vector<float>{0});
  const auto three = begun(3);
  CATCH_REQUIRE(three.size() == 3);
  CATCH_CHECK(three[0] == 0);
  CATCH_CHECK(std::exp(double(three[1])) == Approx(std::pow(10, -4.5)));
  CATCH_CHECK(std::exp(double(three[2])) == Approx(1e-9));
}

CATCH_TEST_CASE("ages that no layer reads change no bit",
                "[compute][edge_ages]") {
  const auto kind = GENERATE(from_range(edge_reading_kinds()));
  CATCH_INFO("kind " << int(kind) << ", seed 63");
  std::mt19937_64 random{63};
  const auto with = graph_with_ages(kind, random);
  auto without = with;
  without.edge_ages.clear();
  for (auto& type : without.info.edge_types)
    type.timed = false;
  auto def = aged_definition(kind, 2, edge_age_use::none);
  const auto plain = trained_with_ages(without, def);
  CATCH_CHECK(!needs_of(def, with.info).ages);
  CATCH_CHECK(trained_with_ages(with, def) == plain);
  for (const auto use : {edge_age_use::log, edge_age_use::cosine}) {
    def.model.edge_ages = use;
    CATCH_CHECK(trained_with_ages(with, def) != plain);
  }
}

CATCH_TEST_CASE("threads change no bit of what ages of edges train",
                "[compute][edge_ages]") {
  const auto kind = GENERATE(from_range(edge_reading_kinds()));
  CATCH_INFO("kind " << int(kind) << ", seed 64");
  std::mt19937_64 random{64};
  auto graph = random_graph(
    random, {.nodes = {3000}, .widths = {6}, .edges = {{0, 0}}, .in_edges = 9});
  add_ages(graph, random);
  auto def = aged_definition(kind, 2, edge_age_use::cosine);
  const auto by_one = digest_after(2, graph, def, first_nodes(1500));
  def.trainer.threads = 3;
  CATCH_CHECK(digest_after(2, graph, def, first_nodes(1500)) == by_one);
}

CATCH_TEST_CASE("a batch without the ages that a model reads is refused",
                "[compute][edge_ages]") {
  std::mt19937_64 random{65};
  const auto graph = graph_with_ages(model_kind::sage, random);
  const auto def = aged_definition(model_kind::sage, 1, edge_age_use::log);
  const auto model = value_of(replica::create(def, graph.info));
  gradient_set gradients;
  auto batch = make_batch(graph, def, {2, 0, 5});
  batch.relations[0].ages = {};
  CATCH_CHECK(!model->compute_gradients(batch, 1, gradients));
  batch = make_batch(graph, def, {2, 0, 5});
  batch.relations[0].edge_features = {};
  CATCH_CHECK(!model->compute_gradients(batch, 1, gradients));
}

} // namespace graphmill::test
