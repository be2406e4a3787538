#include "pipelines/flow/batch_needs.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/pipelines/model/numeric_gradients.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/value_list.hpp"

namespace graphmill::test {

namespace {

std::string trained_with_edges(const toy_graph& graph, const definition& def) {
  return digest_after(3, graph, def, {2, 0, 5}, 2);
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
  auto graph = graph_with_edge_features(kind, random);
  if (extras) {
    def.model.dropout = 0.3;
    def.model.layer_norm = true;
    add_attention_options(def);
    if (traits_of(kind).weighs_edges())
      add_weights(graph, random);
  }
  CATCH_CHECK(needs_of(def, graph.info).edge_features);
  check_gradients(def, graph, {2, 0, 5}, fanout, random);
}

CATCH_TEST_CASE("gradients of features of edges and of bases equal numeric "
                "derivatives",
                "[compute][edge_features][bases]") {
  std::mt19937_64 random{52};
  auto def = small_definition(model_kind::rgcn, 2);
  def.model.bases = 2;
  def.model.relations = GENERATE(relation_use::sum, relation_use::mean);
  CATCH_INFO("use " << int(def.model.relations) << ", seed 52");
  const auto graph = graph_with_edge_features(model_kind::rgcn, random);
  check_gradients(def, graph, {2, 0, 5}, -1, random);
}

CATCH_TEST_CASE("ignored features of edges change no bit",
                "[compute][edge_features]") {
  const auto kind = GENERATE(from_range(edge_reading_kinds()));
  CATCH_INFO("kind " << int(kind) << ", seed 53");
  std::mt19937_64 random{53};
  auto with = graph_with_edge_features(kind, random);
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
  const auto by_one = digest_after(2, graph, def, first_nodes(1500));
  def.trainer.threads = 3;
  CATCH_CHECK(digest_after(2, graph, def, first_nodes(1500)) == by_one);
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
