#include "partition/sampling/rows/packed_rows.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/kernels/model_layout.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

namespace graphmill::test {

namespace {

/// Two types with features of three values in a row at the most, and one
/// without, for kinds that know types.
toy_graph sparse_graph(model_kind kind) {
  std::mt19937_64 random{31};
  const toy_options typed{.nodes = {40, 30, 20},
                          .widths = {12, 0, 11},
                          .edges = {{1, 0}, {0, 1}, {2, 0}, {0, 0}, {1, 2}}};
  const toy_options plain{.nodes = {60}, .widths = {12}, .edges = {{0, 0}}};
  auto graph = random_graph(random, traits_of(kind).typed ? typed : plain);
  for (std::size_t t = 0; t < graph.features.size(); ++t) {
    const auto width =
      static_cast<std::size_t>(graph.info.node_types[t].feature_width);
    auto& rows = graph.features[t];
    for (std::size_t i = 0; i < rows.size(); ++i)
      if ((i / width + i % width) % 5 != 0)
        rows[i] = 0;
  }
  return graph;
}

/// The same, stored without zeros, so that batches hold packed rows.
toy_graph packed(toy_graph graph) {
  for (auto& type : graph.info.node_types)
    if (type.feature_width != 0) {
      type.sparse_features = true;
      type.most_row_entries = 3;
    }
  return graph;
}

/// Whether a replica that multiplies packed rows as they are, which adds up in
/// another order, has come to these numbers.
bool close(std::span<const float> a, std::span<const float> b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return std::abs(x - y) <= 1e-4f * (1 + std::abs(y));
  });
}

} // namespace

CATCH_TEST_CASE("packed features train like dense ones", "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  const auto hidden = GENERATE(4, 20); // Narrower and wider than the features.
  const auto weighted = GENERATE(false, true);
  if (weighted && !traits_of(kind).weighs_edges())
    return;
  CATCH_INFO("kind " << int(kind) << ", hidden " << hidden << ", weighted "
                     << weighted << ", seed 31");
  auto dense = sparse_graph(kind);
  std::mt19937_64 random{32};
  if (weighted)
    add_weights(dense, random);
  const auto sparse = packed(dense);
  auto def = small_definition(kind, 2);
  def.model.hidden = hidden;
  def.model.dropout = 0.3;
  add_attention_options(def);
  const auto a = value_of(replica::create(def, dense.info));
  const auto b = value_of(replica::create(def, sparse.info));
  const auto seeds = first_nodes(25);
  for (std::uint64_t step = 0; step < 3; ++step) {
    gradient_set of_a;
    gradient_set of_b;
    const auto left =
      value_of(a->compute_gradients(make_batch(dense, def, seeds), step, of_a));
    const auto right = value_of(
      b->compute_gradients(make_batch(sparse, def, seeds), step, of_b));
    CATCH_CHECK(left.loss_sum == Approx(right.loss_sum).epsilon(1e-4));
    value_of(a->apply(of_a, 0.1));
    value_of(b->apply(of_b, 0.1));
  }
  batch_output of_a;
  batch_output of_b;
  value_of(a->evaluate(make_batch(dense, def, seeds), &of_a));
  value_of(b->evaluate(make_batch(sparse, def, seeds), &of_b));
  const auto layout = value_of(make_layout(def, sparse.info));
  if (layout.multiplies_packed(0)) {
    CATCH_CHECK(close(of_a.logits, of_b.logits));
  } else {
    CATCH_CHECK(a->digest() == b->digest());
    CATCH_CHECK(of_a.logits == of_b.logits);
  }
}

CATCH_TEST_CASE("threads change no bit of what packed features train",
                "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  CATCH_INFO("kind " << int(kind) << ", seed 31");
  const auto graph = packed(sparse_graph(kind));
  auto def = small_definition(kind, 2);
  def.model.dropout = 0.3;
  add_attention_options(def);
  const auto by_one = digest_after(1, graph, def, first_nodes(25));
  def.trainer.threads = 3;
  CATCH_CHECK(digest_after(1, graph, def, first_nodes(25)) == by_one);
}

CATCH_TEST_CASE("a batch of packed rows that are broken is refused",
                "[compute]") {
  const auto graph = packed(sparse_graph(model_kind::sage));
  const auto def = small_definition(model_kind::sage, 2);
  const auto model = value_of(replica::create(def, graph.info));
  auto batch = make_batch(graph, def, first_nodes(5));
  const auto floats = row_form::of(graph.info.node_types[0]).floats();
  // Its first column lies behind the last one.
  batch.data.features[0].data()[2 * floats] = std::bit_cast<float>(1u);
  batch.data.features[0].data()[2 * floats + 1] = std::bit_cast<float>(12u);
  gradient_set out;
  const auto refused = error_of(model->compute_gradients(batch, 1, out));
  CATCH_CHECK(refused.code == ec::invalid_data);
  CATCH_CHECK(refused.message
              == "the packed features of row 2 of node type 0 of a batch are "
                 "broken");
}

} // namespace graphmill::test
