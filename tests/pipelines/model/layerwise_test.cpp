#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/model/layerwise/layerwise_model.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/memory_graph.hpp"
#include "tests/support/result.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/tiny_disk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace graphmill::test {

namespace {

constexpr auto all_memory = std::numeric_limits<std::uint64_t>::max();

/// More than one piece of rows of the target, and a relation in which most
/// nodes have no neighbours.
toy_graph graph_for(model_kind kind) {
  std::mt19937_64 random{41};
  toy_options options{.nodes = {1100}, .widths = {6}, .edges = {{0, 0}}};
  if (traits_of(kind).typed)
    options = {.nodes = {1100, 30, 20},
               .widths = {6, 0, 4},
               .edges = {{1, 0}, {0, 1}, {2, 0}, {0, 0}, {1, 2}},
               .in_edges = 3};
  auto out = random_graph(random, options);
  for (std::size_t i = 0; i < out.in_lists[0].size(); ++i)
    if (i % 4 != 0)
      out.in_lists[0][i].clear();
  return out;
}

/// The same graph as a dataset opens.
memory_graph stored(const toy_graph& graph) {
  memory_graph out;
  const auto& info = graph.info;
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    const auto& type = info.node_types[t];
    out.nodes.push_back({type.name,
                         type.count,
                         type.feature_width,
                         graph.features[t],
                         t == 0 ? graph.labels : std::vector<std::int64_t>{},
                         {}});
  }
  for (std::size_t e = 0; e < info.edge_types.size(); ++e) {
    const auto& type = info.edge_types[e];
    out.edges.push_back(
      {type.source, type.name, type.destination, graph.in_lists[e]});
    if (type.weighted)
      out.edges.back().weights = graph.in_weights[e];
    if (type.feature_width != 0) {
      out.edges.back().feature_width = type.feature_width;
      out.edges.back().features = graph.edge_features[e];
    }
  }
  return out;
}

definition definition_for(model_kind kind, int hops, bool extras) {
  auto def = small_definition(kind, hops);
  if (extras) {
    def.model.layer_norm = true;
    def.model.residual = true;
    def.model.jumping = true;
    add_attention_options(def);
    def.model.output_heads = 0; // There is no last layer that averages.
  }
  return def;
}

std::unique_ptr<layerwise_model> model_over(const cut_graph& graph,
                                            const definition& def,
                                            const replica& weights,
                                            layerwise_model::options how) {
  auto order = value_of(original_graph::create(graph.graph, graph.shards));
  return value_of(layerwise_model::create(def, weights.parameters(),
                                          std::move(order), std::move(how)));
}

std::vector<float> values_of(const_matrix of) {
  return {of.data, of.data + of.size()};
}

void check_close(const std::vector<float>& got,
                 const std::vector<float>& want) {
  CATCH_REQUIRE(got.size() == want.size());
  double scale = 1e-3;
  double most = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    scale = std::max(scale, std::abs(double(want[i])));
    most = std::max(most, std::abs(double(got[i]) - want[i]));
  }
  CATCH_CHECK(most <= 1e-5 * scale);
}

} // namespace

CATCH_TEST_CASE("layer by layer gives what batches with all neighbours give",
                "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  const auto hops = GENERATE(1, 2, 3);
  const auto extras = GENERATE(false, true);
  CATCH_INFO("kind " << int(kind) << ", hops " << hops << ", extras "
                     << extras);
  const auto toy = graph_for(kind);
  const auto def = definition_for(kind, hops, extras);
  const auto batchwise = value_of(replica::create(def, toy.info));
  batch_output want;
  value_of(batchwise->evaluate(make_batch(toy, def, first_nodes(1100)), &want));
  const auto model = model_over(whole(stored(toy)), def, *batchwise,
                                {.threads = 2, .memory_bytes = all_memory});
  const auto got = value_of(model->run({0}));
  CATCH_CHECK(got.outputs.front().view.rows == 1100);
  CATCH_CHECK(got.outputs.front().view.columns == 3);
  check_close(values_of(got.outputs.front().view), want.logits);
  check_close(values_of(got.embeddings[0].view), want.embeddings);
  CATCH_CHECK(got.file_bytes == 0);
}

CATCH_TEST_CASE("layer by layer puts relations together as batches do",
                "[compute][relations]") {
  const auto use =
    GENERATE(relation_use::sum, relation_use::mean, relation_use::mean_of_all);
  const auto bases = GENERATE(0u, 3u);
  CATCH_INFO("use " << int(use) << ", bases " << bases);
  const auto toy = graph_for(model_kind::rgcn);
  auto def = definition_for(model_kind::rgcn, 2, false);
  def.model.relations = use;
  def.model.bases = bases;
  const auto batchwise = value_of(replica::create(def, toy.info));
  batch_output want;
  value_of(batchwise->evaluate(make_batch(toy, def, first_nodes(1100)), &want));
  const auto model = model_over(whole(stored(toy)), def, *batchwise,
                                {.threads = 2, .memory_bytes = all_memory});
  const auto got = value_of(model->run({}));
  check_close(values_of(got.outputs.front().view), want.logits);
}

CATCH_TEST_CASE("layer by layer weighs edges as batches do, in any parts",
                "[compute][weights]") {
  const auto kind = GENERATE(from_range(weighing_kinds()));
  const auto extras = GENERATE(false, true);
  CATCH_INFO("kind " << int(kind) << ", extras " << extras);
  auto toy = graph_for(kind);
  auto def = definition_for(kind, 2, extras);
  std::mt19937_64 random{43};
  add_weights(toy, random);
  const auto graph = stored(toy);
  const auto cut_up = cut(graph, 3, random_assignment(graph, 3, 5));
  std::vector<std::vector<float>> logits;
  for (const auto use : {edge_weight_use::use, edge_weight_use::ignore}) {
    def.model.edge_weights = use;
    const auto batchwise = value_of(replica::create(def, toy.info));
    batch_output want;
    value_of(
      batchwise->evaluate(make_batch(toy, def, first_nodes(1100)), &want));
    const auto one = model_over(whole(graph), def, *batchwise,
                                {.threads = 2, .memory_bytes = all_memory});
    const auto three = model_over(cut_up, def, *batchwise,
                                  {.threads = 1, .memory_bytes = all_memory});
    logits.push_back(values_of(value_of(one->run({})).outputs.front().view));
    check_close(logits.back(), want.logits);
    CATCH_CHECK(values_of(value_of(three->run({})).outputs.front().view)
                == logits.back());
  }
  CATCH_CHECK(logits[0] != logits[1]);
}

CATCH_TEST_CASE("layer by layer reads features of edges as batches do, in any "
                "parts",
                "[compute][edge_features]") {
  const auto kind = GENERATE(from_range(edge_reading_kinds()));
  const auto extras = GENERATE(false, true);
  CATCH_INFO("kind " << int(kind) << ", extras " << extras << ", seed 47");
  auto toy = graph_for(kind);
  auto def = definition_for(kind, 2, extras);
  std::mt19937_64 random{47};
  add_edge_features(toy, random, 3, traits_of(kind).typed);
  if (extras && traits_of(kind).weighs_edges())
    add_weights(toy, random);
  const auto graph = stored(toy);
  const auto batchwise = value_of(replica::create(def, toy.info));
  batch_output want;
  value_of(batchwise->evaluate(make_batch(toy, def, first_nodes(1100)), &want));
  const auto one = model_over(whole(graph), def, *batchwise,
                              {.threads = 2, .memory_bytes = all_memory});
  const auto three =
    model_over(cut(graph, 3, random_assignment(graph, 3, 5)), def, *batchwise,
               {.threads = 1, .memory_bytes = all_memory});
  const auto got = values_of(value_of(one->run({})).outputs.front().view);
  check_close(got, want.logits);
  CATCH_CHECK(values_of(value_of(three->run({})).outputs.front().view) == got);
}

CATCH_TEST_CASE("layer by layer gives the same bits for any threads and parts, "
                "in memory and on disk",
                "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  const auto extras = GENERATE(false, true);
  CATCH_INFO("kind " << int(kind) << ", extras " << extras);
  const auto toy = graph_for(kind);
  const auto def = definition_for(kind, 2, extras);
  const auto weights = value_of(replica::create(def, toy.info));
  const auto graph = stored(toy);
  const temp_folder folder;
  const auto one = model_over(whole(graph), def, *weights,
                              {.threads = 1, .memory_bytes = all_memory});
  const auto want = value_of(one->run({0}));
  const auto cut_up = cut(graph, 3, random_assignment(graph, 3, 5));
  const auto other =
    model_over(cut_up, def, *weights,
               {.threads = 3, .memory_bytes = 0, .scratch = folder.path()});
  const auto got = value_of(other->run({0}));
  CATCH_CHECK(got.file_bytes > 0);
  CATCH_CHECK(values_of(got.outputs.front().view)
              == values_of(want.outputs.front().view));
  CATCH_CHECK(values_of(got.embeddings[0].view)
              == values_of(want.embeddings[0].view));
  CATCH_CHECK(names_in(folder.path()).empty());
}

CATCH_TEST_CASE("embeddings are of any type that layers make rows of",
                "[compute]") {
  const auto toy = graph_for(model_kind::rgcn);
  const auto graph = whole(stored(toy));
  const auto def = definition_for(model_kind::rgcn, 2, false);
  const auto weights = value_of(replica::create(def, toy.info));
  const auto model = model_over(graph, def, *weights,
                                {.threads = 1, .memory_bytes = all_memory});
  const auto made = value_of(model->run({1, 2, 0}));
  CATCH_CHECK(made.embeddings[0].view.rows == 30);
  CATCH_CHECK(made.embeddings[1].view.rows == 20);
  CATCH_CHECK(made.embeddings[2].view.rows == 1100);
  for (const auto& rows : made.embeddings)
    CATCH_CHECK(rows.view.columns == 4);
  // With one layer, rows of type 1 are learnt, and those of type 2 features.
  const auto shallow = definition_for(model_kind::rgcn, 1, false);
  const auto few = value_of(replica::create(shallow, toy.info));
  const auto flat = model_over(graph, shallow, *few,
                               {.threads = 1, .memory_bytes = all_memory});
  CATCH_CHECK(value_of(flat->run({1})).embeddings[0].view.columns == 5);
  const auto refused = flat->run({2});
  CATCH_REQUIRE(!refused);
  CATCH_CHECK(refused.error().code == ec::invalid_argument);
  CATCH_CHECK(refused.error().message.find("their features")
              != std::string::npos);
}

CATCH_TEST_CASE("what keeps layers from being made is an error", "[compute]") {
  const auto toy = graph_for(model_kind::sage);
  const auto def = definition_for(model_kind::sage, 2, false);
  const auto weights = value_of(replica::create(def, toy.info));
  const auto graph = whole(stored(toy));
  const temp_folder folder;
  const auto missing = folder / "missing";
  const auto nowhere =
    model_over(graph, def, *weights,
               {.threads = 1, .memory_bytes = 0, .scratch = missing});
  const auto failed = nowhere->run({});
  CATCH_REQUIRE(!failed);
  CATCH_CHECK(failed.error().message.find(missing.string())
              != std::string::npos);
  const auto stopped = model_over(
    graph, def, *weights,
    {.threads = 2, .memory_bytes = all_memory, .stopped = [] { return true; }});
  const auto ended = stopped->run({});
  CATCH_REQUIRE(!ended);
  CATCH_CHECK(ended.error().code == ec::cancelled);
  // A list of in-edges that leaves its array.
  const auto broken = whole(stored(toy));
  damage(broken.shards[0]->edges(0).indptr, 5, std::int64_t{1} << 40);
  const auto list = model_over(broken, def, *weights,
                               {.threads = 1, .memory_bytes = all_memory})
                      ->run({});
  CATCH_REQUIRE(!list);
  CATCH_CHECK(list.error().code == ec::invalid_data);
  // An in-degree that no node can have.
  const auto symmetric = definition_for(model_kind::gcn, 2, false);
  const auto others = value_of(replica::create(symmetric, toy.info));
  const auto odd = whole(stored(toy));
  damage(odd.shards[0]->edges(0).in_degrees, 5, std::int32_t{-1000});
  const auto degrees = model_over(odd, symmetric, *others,
                                  {.threads = 1, .memory_bytes = all_memory})
                         ->run({});
  CATCH_REQUIRE(!degrees);
  CATCH_CHECK(degrees.error().code == ec::invalid_data);
  CATCH_CHECK(degrees.error().message.find("in-degree") != std::string::npos);
}

CATCH_TEST_CASE("a disk that is too small for rows is an error with what to do",
                "[compute]") {
  const temp_folder folder;
  const auto code = code_of_child([&folder] {
    if (!mount_tiny_disk(folder.path(), std::size_t{64} << 10))
      return 77;
    row_room room{0, folder.path()};
    const auto small = room.make(100, 10);
    const auto large = room.make(100000, 10);
    if (!small || large)
      return 1;
    const auto& reason = large.error();
    return reason.code == ec::no_space
               && reason.message.find("--scratch") != std::string::npos
             ? 0
             : 2;
  });
  if (code == 77)
    CATCH_WARN("mounting is not allowed here");
  else
    CATCH_CHECK(code == 0);
}

} // namespace graphmill::test
