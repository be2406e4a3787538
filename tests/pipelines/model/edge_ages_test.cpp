#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/pipelines/model/numeric_gradients.hpp"
#include "tests/pipelines/model/reference.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/value_list.hpp"

#include <cmath>
#include <numeric>

namespace graphmill::test {

namespace {

/// With features of edges, where they are not ignored.
toy_graph graph_with_ages(model_kind kind, std::mt19937_64& random) {
  const auto typed = traits_of(kind).typed;
  auto graph =
    typed ? random_graph(random, {.nodes = {9, 7, 6},
                                  .widths = {3, 0, 4},
                                  .edges = {{1, 0}, {0, 1}, {2, 0}, {0, 0}}})
          : random_graph(
            random, {.nodes = {9}, .widths = {3}, .edges = {{0, 0}, {0, 0}}});
  add_edge_features(graph, random, 3, typed);
  add_ages(graph, random, typed);
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

/// What three steps on sampled neighbours make of the model.
std::string trained_with_ages(const toy_graph& graph, const definition& def) {
  const auto model = value_of(replica::create(def, graph.info));
  for (std::uint64_t step = 0; step < 3; ++step) {
    gradient_set gradients;
    value_of(model->compute_gradients(make_batch(graph, def, {2, 0, 5}, 2),
                                      step, gradients));
    value_of(model->apply(gradients, 0.1));
  }
  return model->digest();
}

} // namespace

CATCH_TEST_CASE("gradients of ages of edges equal numeric derivatives",
                "[compute][edge_ages]") {
  const auto kind = GENERATE(from_range(edge_reading_kinds()));
  const auto use = GENERATE(edge_age_use::log, edge_age_use::cosine);
  const auto layers = GENERATE(1, 2);
  const auto fanout = GENERATE(-1, 2);
  const auto extras = GENERATE(false, true); // Dropout, norm and weights.
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
  const auto layout = value_of(make_layout(def, graph.info));
  auto model = value_of(replica::create(def, graph.info));
  auto batch = make_batch(graph, def, {2, 0, 5}, fanout);
  reference_model reference{layout, batch, def.model.layer_norm};
  reference.training = true;
  reference.key = 99;
  randomise(*model, reference, random);
  gradient_set got;
  const auto metrics = value_of(model->compute_gradients(batch, 99, got));
  const auto loss = metrics.loss_sum / double(batch.global_seeds);
  CATCH_CHECK(std::abs(loss - reference.loss()) < 1e-5 * (1 + loss));
  compare_gradients(layout, reference, got);
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
  std::vector<node_id> seeds(1500);
  std::iota(seeds.begin(), seeds.end(), node_id{0});
  std::vector<std::string> digests;
  for (const auto threads : {1u, 3u}) {
    def.trainer.threads = threads;
    const auto model = value_of(replica::create(def, graph.info));
    for (std::uint64_t step = 0; step < 2; ++step) {
      gradient_set gradients;
      value_of(model->compute_gradients(make_batch(graph, def, seeds), step,
                                        gradients));
      value_of(model->apply(gradients, 0.1));
    }
    digests.push_back(model->digest());
  }
  CATCH_CHECK(digests[0] == digests[1]);
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
