#include "partition/dataset/chosen_task.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/model/fused_model.hpp"
#include "pipelines/model/memory_estimate.hpp"
#include "pipelines/model/passes/node_ranking.hpp"
#include "tests/pipelines/model/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/result.hpp"

namespace graphmill::test {

namespace {

/// The bound of a batch that turns out exactly as large as that.
subgraph_bound bound_by(const minibatch& batch, const toy_graph& graph) {
  subgraph_bound out;
  for (const auto& list : batch.data.graph.nodes) {
    out.nodes.push_back(list.found.back());
    out.expanded.push_back(list.found[list.found.size() - 2]);
  }
  out.edges.assign(graph.info.edge_types.size(), 0);
  for (std::size_t r = 0; r < batch.relations.size(); ++r)
    out.edges[r] = batch.relations[r].forward.indptr.back();
  return out;
}

/// The most memory that a step has used at once.
std::size_t peak_of(const toy_graph& graph, const definition& def,
                    const minibatch& batch) {
  const auto layout = value_of(make_layout(def, graph.info));
  const auto parameters = initial_parameters(layout, 1);
  const auto pool = buffer_pool::make(0);
  thread_team team{def.trainer.threads};
  {
    fused_model model{
      layout,
      parameters,
      batch,
      {.team = &team, .training = true, .key = 1, .pool = pool}};
    gradient_set gradients;
    const auto logits = model.forward();
    const std::vector<float> upstream(logits.size(), 0.1f);
    model.backward({upstream.data(), logits.rows, logits.columns}, gradients);
  }
  CATCH_CHECK(pool->live_bytes() == 0);
  return pool->peak_bytes();
}

} // namespace

CATCH_TEST_CASE("a step takes no more memory than estimated", "[compute]") {
  const auto kind = GENERATE(from_range(all_kinds()));
  const auto width = GENERATE(0, 8, 200);
  const auto norm = GENERATE(false, true);
  const auto layers = GENERATE(1, 2, 3);
  CATCH_INFO("kind " << int(kind) << ", width " << width << ", norm " << norm
                     << ", layers " << layers << ", seed 13");
  std::mt19937_64 random{13};
  toy_options options{.nodes = {4000}, .widths = {width}, .edges = {{0, 0}}};
  if (traits_of(kind).typed)
    options = {.nodes = {3000, 2000},
               .widths = {width, 30},
               .edges = {{1, 0}, {0, 1}, {0, 0}}};
  const auto graph = random_graph(random, options);
  auto def = small_definition(kind, layers);
  def.model.hidden = 48;
  def.model.embedding = 24;
  def.model.layer_norm = norm;
  def.model.residual = norm;
  def.model.jumping = norm;
  def.model.dropout = 0.5;
  if (norm)
    add_attention_options(def);
  std::vector<node_id> seeds;
  for (node_id i = 0; i < 900; ++i)
    seeds.push_back(i);
  // The estimate takes the seeds of a batch from the definition.
  def.train.batch_size = static_cast<std::uint32_t>(seeds.size());
  const auto batch = make_batch(graph, def, seeds);
  const auto peak = peak_of(graph, def, batch);
  const auto estimate =
    estimate_memory(def, graph.info, bound_by(batch, graph));
  CATCH_CHECK(peak <= estimate.activations);
  if (layers > 1) // One layer may get by with far less: transform, then sum.
    CATCH_CHECK(peak * 8 >= estimate.activations);
}

CATCH_TEST_CASE("a step with features of edges takes no more memory than "
                "estimated",
                "[compute][edge_features]") {
  const auto kind = GENERATE(from_range(edge_reading_kinds()));
  const auto features = GENERATE(1, 300);
  const auto threads = features == 1 ? 1U : 3U;
  const auto seeds = GENERATE(2, 40);
  const auto fanout = GENERATE(-1, 5);
  const auto edge_types = GENERATE(1, 8); // Some kinds merge them.
  CATCH_INFO("kind " << int(kind) << ", features " << features << ", seeds "
                     << seeds << ", fanout " << fanout << ", edge types "
                     << edge_types << ", threads " << threads << ", seed 13");
  std::mt19937_64 random{13};
  toy_options options{.nodes = {300}, .widths = {8}, .in_edges = edge_types};
  options.edges.assign(static_cast<std::size_t>(edge_types), {0, 0});
  auto graph = random_graph(random, options);
  add_edge_features(graph, random, features);
  auto def = small_definition(kind, 4);
  def.model.hidden = 512;
  def.sampler.fanouts.assign(4, fanout);
  def.trainer.threads = threads;
  def.train.batch_size = def.evaluate.batch_size =
    static_cast<std::uint32_t>(seeds);
  const auto batch = make_batch(graph, def, first_nodes(seeds), fanout);
  const auto estimate =
    estimate_memory(def, graph.info, bound_by(batch, graph));
  CATCH_CHECK(peak_of(graph, def, batch) <= estimate.activations);
}

CATCH_TEST_CASE("a row of all in-edges is as long as the longest list",
                "[compute][edge_features]") {
  std::mt19937_64 random{13};
  auto graph =
    random_graph(random, {.nodes = {300}, .widths = {8}, .in_edges = 8});
  add_edge_features(graph, random, 300);
  auto def = small_definition(model_kind::gatv2, 2);
  def.model.hidden = 512;
  def.sampler.fanouts.assign(2, -1);
  def.trainer.threads = 1;
  const auto batch = make_batch(graph, def, first_nodes(200));
  const auto bound = bound_by(batch, graph);
  const auto estimate = estimate_memory(def, graph.info, bound).activations;
  CATCH_CHECK(peak_of(graph, def, batch) <= estimate);
  graph.info.edge_types[0].max_in_degree = bound.edges[0];
  CATCH_CHECK(estimate < estimate_memory(def, graph.info, bound).activations);
}

CATCH_TEST_CASE("packed rows take the room of dense ones on a GPU",
                "[compute]") {
  constexpr std::int64_t width = 200;
  std::mt19937_64 random{13};
  const auto graph = random_graph(
    random, {.nodes = {400}, .widths = {width}, .edges = {{0, 0}}});
  auto packed = graph.info;
  packed.node_types[0].sparse_features = true;
  packed.node_types[0].most_row_entries = 3;
  auto def = small_definition(model_kind::sage, 2);
  const auto bound = bound_by(make_batch(graph, def, {0, 1, 2, 3}), graph);
  const auto on_cpu = estimate_memory(def, packed, bound).activations;
  def.trainer.device = "cuda";
  const auto dense = estimate_memory(def, graph.info, bound).activations;
  const auto unpacked = estimate_memory(def, packed, bound).activations;
  CATCH_CHECK(on_cpu < unpacked);
  // Beside all that dense rows take, the rows themselves: floats, and a half.
  CATCH_CHECK(double(unpacked - dense)
              == Approx(6.0 * double(bound.nodes[0] * width)).margin(2));
}

namespace {

constexpr std::uint32_t all = 4294967295; // What the schema has for the word.

/// Links among 40 nodes.
struct planned_links {
  dataset_info info;
  definition def = small_definition(model_kind::sage, 2);

  planned_links() {
    std::mt19937_64 random{17};
    auto graph = random_graph(random, {.nodes = {40}});
    add_task(graph, edge_task_kind::link, {0});
    graph.info.tasks[0].split_counts = {300, 80, 120};
    def.task = "edges";
    def.evaluate.negatives = 5;
    info = graph.info;
  }

  std::uint64_t activations(std::uint32_t train, std::uint32_t evaluate) {
    def.train.batch_size = train;
    def.evaluate.batch_size = evaluate;
    const auto seen = value_of(choose_task(info, def.task));
    const auto most = largest_activations(def, seen);
    const auto bound = bound_of(seen, value_of(resolve_fanouts(def, seen)),
                                std::vector<std::int64_t>{40});
    const auto one = estimate_memory(def, seen, bound).activations;
    CATCH_CHECK(one > 0);
    return most + one;
  }
};

} // namespace

CATCH_TEST_CASE("a batch of all links is as large as its split",
                "[compute][links]") {
  for (const auto negatives : {5U, all}) {
    planned_links links;
    links.def.evaluate.negatives = negatives;
    CATCH_CHECK(links.activations(all, 1) == links.activations(300, 1));
    CATCH_CHECK(links.activations(1, all) == links.activations(1, 120));
    CATCH_CHECK(links.activations(1, 119) < links.activations(1, all));
    links.def.trainer.replicas = 3;
    CATCH_CHECK(links.activations(all, all) == links.activations(300, 120));
  }
}

CATCH_TEST_CASE("each thread that ranks rows among all nodes has lists",
                "[compute][links][ranking]") {
  planned_links links;
  links.info.tasks[0].split_counts = {300, 80, 300};
  links.def.evaluate.negatives = all;
  links.def.trainer.threads = 1;
  const auto one = links.activations(1, 300);
  links.def.trainer.threads = 3;
  // Rows of a thread are 128, and there are two estimates.
  CATCH_CHECK(
    links.activations(1, 300)
    >= one
         + 2 * (ranked_list_bytes(300, 40, 3) - ranked_list_bytes(300, 40, 1)));
}

CATCH_TEST_CASE("what a decoder makes of features of edges is counted",
                "[compute][links][edge_features]") {
  std::mt19937_64 random{17};
  auto graph = random_graph(random, {.nodes = {40}});
  add_task(graph, edge_task_kind::edge_class, {0}, 3);
  add_edge_features(graph, random, 2);
  graph.info.tasks[0].split_counts = {300, 80, 120};
  auto def = small_definition(model_kind::sage, 2);
  def.task = "edges";
  def.decoder.kind = decoder_kind::mlp;
  def.decoder.hidden = 7;
  def.train.batch_size = 90;
  def.evaluate.batch_size = 10;
  const auto seen = value_of(choose_task(graph.info, def.task));
  const auto bound = bound_of(seen, value_of(resolve_fanouts(def, seen)),
                              std::vector<std::int64_t>{40});
  const auto activations = [&] {
    return estimate_memory(def, seen, bound).activations;
  };
  const auto without = activations();
  def.decoder.edge_features = true;
  CATCH_CHECK(activations() >= without + 2 * 90 * 7 * 4);
  const auto trained = activations();
  def.evaluate.batch_size = 120; // None has a gradient.
  CATCH_CHECK(activations() >= trained);
}

CATCH_TEST_CASE("given negatives of one split count where others rank all "
                "nodes",
                "[compute][links]") {
  planned_links links;
  links.def.evaluate.negatives = all;
  const auto without = links.activations(1, 50);
  links.info.tasks[0].negative_counts = {0, 70, 0};
  const auto validated = links.activations(1, 50);
  links.info.tasks[0].negative_counts = {0, 0, 70};
  CATCH_CHECK(links.activations(1, 50) == validated);
  CATCH_CHECK(validated > without);
}

} // namespace graphmill::test
