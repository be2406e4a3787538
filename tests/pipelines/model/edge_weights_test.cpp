#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/model/passes/relation_pass.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"
#include "tests/support/value_list.hpp"

#include <cmath>
#include <limits>

namespace graphmill::test {

namespace {

toy_graph graph_of(model_kind kind) {
  std::mt19937_64 random{71};
  if (traits_of(kind).typed)
    return random_graph(random, {.nodes = {40, 30, 20},
                                 .widths = {6, 0, 4},
                                 .edges = {{1, 0}, {0, 1}, {2, 0}, {0, 0}}});
  return random_graph(
    random, {.nodes = {60}, .widths = {6}, .edges = {{0, 0}, {0, 0}}});
}

std::string trained(const toy_graph& graph, const definition& def) {
  return digest_after(3, graph, def, first_nodes(25), 2);
}

/// Row 0 hears 1 and 2, by weights of 3 and 1; row 1 hears 0 by nothing; row 2
/// nobody.
csr small_edges() {
  csr out;
  for (const auto end : {0, 2, 3, 3})
    out.indptr.push_back(end);
  for (const auto source : {1, 2, 0})
    out.columns.push_back(source);
  for (const auto weight : {3.0f, 1.0f, 0.0f})
    out.weights.push_back(weight);
  return out;
}

} // namespace

CATCH_TEST_CASE("weights that are all 1 give the bits of a graph without any",
                "[compute][weights]") {
  const auto kind = GENERATE(from_range(weighing_kinds()));
  const auto hidden = GENERATE(4, 20);
  CATCH_INFO("kind " << int(kind) << ", hidden " << hidden << ", seed 71");
  auto def = small_definition(kind, 2);
  def.model.hidden = hidden;
  def.model.dropout = 0.3;
  auto graph = graph_of(kind);
  const auto without = trained(graph, def);
  add_ones(graph);
  CATCH_CHECK(needs_of(def, graph.info).weights);
  CATCH_CHECK(trained(graph, def) == without);
  std::mt19937_64 random{72};
  add_weights(graph, random);
  CATCH_CHECK(trained(graph, def) != without);
  def.model.edge_weights = edge_weight_use::ignore;
  CATCH_CHECK(!needs_of(def, graph.info).weights);
  CATCH_CHECK(trained(graph, def) == without);
}

CATCH_TEST_CASE("threads change no bit of what weighted edges train",
                "[compute][weights]") {
  const auto kind = GENERATE(from_range(weighing_kinds()));
  CATCH_INFO("kind " << int(kind) << ", seeds 71 and 72");
  auto graph = graph_of(kind);
  std::mt19937_64 random{72};
  add_weights(graph, random);
  auto def = small_definition(kind, 2);
  const auto one = trained(graph, def);
  def.trainer.threads = 3;
  CATCH_CHECK(trained(graph, def) == one);
}

CATCH_TEST_CASE("two copies of an edge are one that weighs 2, and an edge that "
                "weighs nothing is none",
                "[compute][weights]") {
  const auto kind =
    GENERATE(model_kind::sage, model_kind::gat, model_kind::gatv2,
             model_kind::rgat, model_kind::hgt);
  CATCH_INFO("kind " << int(kind) << ", seed 73");
  std::mt19937_64 random{73};
  auto copies = random_graph(random, {.nodes = {12}, .widths = {4}});
  for (auto& list : copies.in_lists[0])
    if (list.empty()) // One in the other graph would see itself by nothing.
      list.push_back(1);
  auto weighed = copies;
  add_ones(weighed);
  for (std::size_t i = 0; i < copies.in_lists[0].size(); ++i) {
    copies.in_lists[0][i].insert(copies.in_lists[0][i].begin(),
                                 copies.in_lists[0][i].front());
    weighed.in_weights[0][i].front() = 2;
    weighed.in_lists[0][i].push_back(static_cast<node_id>(i));
    weighed.in_weights[0][i].push_back(0);
  }
  const auto def = small_definition(kind, 1);
  const auto logits_of = [&def](const toy_graph& graph) {
    const auto model = value_of(replica::create(def, graph.info));
    batch_output out;
    value_of(model->evaluate(make_batch(graph, def, {0, 5, 7, 11}), &out));
    return out.logits;
  };
  const auto want = logits_of(copies);
  const auto got = logits_of(weighed);
  CATCH_REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    CATCH_CHECK(std::abs(got[i] - want[i]) < 1e-5);
}

CATCH_TEST_CASE("only what weighs neighbours needs weights",
                "[compute][weights]") {
  for (const auto kind : all_kinds()) {
    CATCH_INFO("kind " << int(kind));
    auto graph = graph_of(kind);
    const auto def = small_definition(kind, 2);
    CATCH_CHECK(!needs_of(def, graph.info).weights);
    add_ones(graph);
    const auto needs = needs_of(def, graph.info);
    CATCH_CHECK(needs.weights == traits_of(kind).weighs_edges());
    CATCH_CHECK(needs.in_weights == (kind == model_kind::gcn));
  }
}

CATCH_TEST_CASE("a mean by weights that add up to nothing is that of no "
                "neighbours",
                "[compute][weights]") {
  auto edges = small_edges();
  const auto scales = mean_scales(edges, 3);
  CATCH_CHECK(scales.row[0] == 0.25f);
  CATCH_CHECK(scales.row[1] == 0);
  CATCH_CHECK(scales.row[2] == 0);
  // One by a number as small as this is no float.
  for (std::size_t e = 0; e < edges.weights.size(); ++e)
    edges.weights[e] = std::numeric_limits<float>::denorm_min();
  CATCH_CHECK(mean_scales(edges, 3).row[0] == 0);
}

CATCH_TEST_CASE(
  "symmetric sums are normalised by the weights of the full graph",
  "[compute][weights]") {
  pod_vector<std::int32_t> degrees;
  pod_vector<float> sums;
  // Of 4 in-edges of node 0, which weigh 8, 2 were sampled.
  for (const auto degree : {4, 1, 0})
    degrees.push_back(degree);
  for (const auto sum : {8.0f, 0.0f, 0.0f})
    sums.push_back(sum);
  const auto scales = symmetric_scales(small_edges(), 3, degrees, sums);
  CATCH_CHECK(scales.row[0] == static_cast<float>(4.0 / 2 / 3));
  CATCH_CHECK(scales.row[1] == 1);
  CATCH_CHECK(scales.row[2] == 0);
  CATCH_CHECK(scales.self[0] == static_cast<float>(1.0 / 9));
  CATCH_CHECK(scales.self[1] == 1);
  CATCH_CHECK(scales.column[0] == static_cast<float>(1.0 / 3));
  CATCH_CHECK(scales.column[2] == 1);
}

} // namespace graphmill::test
