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

toy_graph graph_with_edges(model_kind kind, std::mt19937_64& random) {
  const auto typed = traits_of(kind).typed;
  auto graph =
    typed ? random_graph(random, {.nodes = {9, 7, 6},
                                  .widths = {3, 0, 4},
                                  .edges = {{1, 0}, {0, 1}, {2, 0}, {0, 0}}})
          : random_graph(
            random, {.nodes = {9}, .widths = {3}, .edges = {{0, 0}, {0, 0}}});
  add_edge_features(graph, random, 3, typed);
  return graph;
}

/// What three steps on sampled neighbours make of the model.
std::string trained_with_edges(const toy_graph& graph, const definition& def) {
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

CATCH_TEST_CASE("gradients of features of edges equal numeric derivatives",
                "[compute][edge_features]") {
  const auto kind = GENERATE(from_range(edge_reading_kinds()));
  const auto layers = GENERATE(1, 2);
  const auto fanout = GENERATE(-1, 2);
  const auto extras = GENERATE(false, true); // Dropout, norm and weights.
  CATCH_INFO("kind " << int(kind) << ", layers " << layers << ", fanout "
                     << fanout << ", extras " << extras << ", seed 51");
  std::mt19937_64 random{51};
  auto def = small_definition(kind, layers);
  auto graph = graph_with_edges(kind, random);
  if (extras) {
    def.model.dropout = 0.3;
    def.model.layer_norm = true;
    add_attention_options(def);
    if (traits_of(kind).weighs_edges())
      add_weights(graph, random);
  }
  CATCH_CHECK(needs_of(def, graph.info).edge_features);
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

CATCH_TEST_CASE("gradients of features of edges and of bases equal numeric "
                "derivatives",
                "[compute][edge_features][bases]") {
  std::mt19937_64 random{52};
  auto def = small_definition(model_kind::rgcn, 2);
  def.model.bases = 2;
  def.model.relations = GENERATE(relation_use::sum, relation_use::mean);
  CATCH_INFO("use " << int(def.model.relations) << ", seed 52");
  const auto graph = graph_with_edges(model_kind::rgcn, random);
  const auto layout = value_of(make_layout(def, graph.info));
  auto model = value_of(replica::create(def, graph.info));
  auto batch = make_batch(graph, def, {2, 0, 5}, -1);
  reference_model reference{layout, batch, false};
  reference.training = true;
  reference.key = 99;
  randomise(*model, reference, random);
  gradient_set got;
  value_of(model->compute_gradients(batch, 99, got));
  compare_gradients(layout, reference, got);
}

CATCH_TEST_CASE("ignored features of edges change no bit",
                "[compute][edge_features]") {
  const auto kind = GENERATE(from_range(edge_reading_kinds()));
  CATCH_INFO("kind " << int(kind) << ", seed 53");
  std::mt19937_64 random{53};
  auto with = graph_with_edges(kind, random);
  auto without = with;
  without.edge_features.clear();
  for (auto& type : without.info.edge_types)
    type.feature_width = 0;
  auto def = small_definition(kind, 2);
  const auto digest = trained_with_edges(without, def);
  CATCH_CHECK(trained_with_edges(with, def) != digest);
  def.model.edge_features = edge_feature_use::ignore;
  CATCH_CHECK(!needs_of(def, with.info).edge_features);
  CATCH_CHECK(trained_with_edges(with, def) == digest);
}

CATCH_TEST_CASE("threads change no bit of what features of edges train",
                "[compute][edge_features]") {
  const auto kind = GENERATE(from_range(edge_reading_kinds()));
  CATCH_INFO("kind " << int(kind) << ", seed 54");
  std::mt19937_64 random{54};
  auto graph = random_graph(
    random, {.nodes = {3000}, .widths = {6}, .edges = {{0, 0}}, .in_edges = 4});
  add_edge_features(graph, random, 5);
  auto def = small_definition(kind, 2);
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

CATCH_TEST_CASE("kinds that cannot read features of edges refuse them",
                "[compute][edge_features]") {
  for (const auto kind : all_kinds()) {
    const auto& traits = traits_of(kind);
    CATCH_INFO("kind " << int(kind) << ", seed 55");
    std::mt19937_64 random{55};
    auto graph = random_graph(random, {.nodes = {8}, .widths = {3}});
    add_edge_features(graph, random, 2);
    auto def = small_definition(kind, 1);
    const auto made = make_layout(def, graph.info);
    CATCH_CHECK(made.has_value()
                == (traits.reads_edge_features() || !traits.hears()));
    def.model.edge_features = edge_feature_use::ignore;
    CATCH_CHECK(make_layout(def, graph.info).has_value());
  }
}

} // namespace graphmill::test
