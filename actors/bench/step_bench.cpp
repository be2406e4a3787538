#include "actors/bench/bench_graph.hpp"
#include "partition/sampling/rows/gather.hpp"
#include "pipelines/flow/assembly.hpp"
#include "pipelines/flow/batch_needs.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/model/passes/gemm.hpp"
#include "pipelines/model/replica.hpp"
#include "pipelines/model/threads.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace graphmill {

namespace {

constexpr int step_rounds = 7;
constexpr std::int64_t hidden = 256;

definition step_definition(const bench_context& context) {
  definition def;
  def.seed = context.seed;
  def.sampler.fanouts = {15, 10, 5};
  def.train.batch_size = bench_batch_size;
  def.trainer.replicas = 1;
  def.model.kind = model_kind::sage;
  def.model.hidden = hidden;
  def.model.dropout = 0.5;
  def.trainer.threads = 1;
  def.trainer.device = "cpu";
  def.optimizer.kind = optimizer_kind::adam;
  return def;
}

/// One batch as the trainer gets it.
result<minibatch> make_batch(const bench_context& context,
                             const bench_graph& on, const definition& def,
                             const std::shared_ptr<buffer_pool>& pool) {
  const auto& info = on.graph.info();
  const auto& nodes = info.node_types.front();
  const auto& part = *on.shards.front();
  const auto seeds = bench_seeds(on.graph, 0);
  fetched_batch data;
  GRAPHMILL_TRY(data.graph, sample(on.graph, on.shards, bench_scheme(info),
                                   bench_key(context, 0), seeds, pool));
  const auto ids = data.graph.nodes.front().ids.span();
  auto& features = data.features.emplace_back(pool);
  features.resize(ids.size() * static_cast<std::size_t>(nodes.feature_width));
  GRAPHMILL_TRYV(gather_features(part, 0, ids, {}, features.data()));
  data.labels.resize(seeds.size());
  const auto& owned = part.nodes(0);
  gather_values(owned.labels, owned.begin, ids.first(seeds.size()), {},
                data.labels.data());
  GRAPHMILL_TRY(auto batch,
                assemble(std::move(data), needs_of(def, info), info, pool));
  batch.global_seeds = static_cast<std::int64_t>(seeds.size());
  return batch;
}

struct layer_shape {
  std::int64_t rows;
  std::int64_t in;
  std::int64_t out;
};

owned_matrix filled(std::int64_t rows, std::int64_t columns,
                    const std::shared_ptr<buffer_pool>& pool) {
  owned_matrix out{rows, columns, pool};
  std::fill(out.data(), out.data() + rows * columns, 0.5f);
  return out;
}

/// The limit: the products of the step and nothing else, each in one call. A
/// layer has two weights; each is multiplied with once forward, and once for
/// its gradient and, from the second layer on, once for its input's.
double time_products(std::span<const layer_shape> layers,
                     const std::shared_ptr<buffer_pool>& pool) {
  double seconds = 0;
  for (const auto& layer : layers) {
    auto x = filled(layer.rows, layer.in, pool);
    auto y = filled(layer.rows, layer.out, pool);
    auto w = filled(layer.in, layer.out, pool);
    const auto first = &layer == &layers.front();
    seconds += seconds_of([&x, &y, &w, first] {
      for (int weight = 0; weight < 2; ++weight) {
        multiply(x.view(), w.view(), 0, y.view());
        multiply_tn(x.view(), y.view(), 0, w.view());
        if (!first)
          multiply_nt(y.view(), w.view(), 0, x.view());
      }
    });
  }
  return seconds;
}

} // namespace

result<std::vector<bench_figure>> bench_step(const bench_context& context) {
  GRAPHMILL_TRY(const auto on, open_bench_graph(context));
  const auto pool = buffer_pool::make(std::size_t{1} << 30);
  const auto def = step_definition(context);
  const auto& info = on.graph.info();
  GRAPHMILL_TRY(const auto batch, make_batch(context, on, def, pool));
  keep_libraries_single_threaded();
  GRAPHMILL_TRY(const auto model, replica::create(def, info));
  const auto& found = batch.data.graph.nodes.front().found;
  const auto width = info.node_types.front().feature_width;
  const auto classes = info.node_types.front().class_count;
  const std::array<layer_shape, 3> layers{{{found[2], width, hidden},
                                           {found[1], hidden, hidden},
                                           {found[0], hidden, classes}}};
  auto step = std::numeric_limits<double>::max();
  auto products = step;
  gradient_set gradients;
  for (int round = 0; round < step_rounds; ++round) {
    result<void> done = ok();
    const auto seconds = seconds_of([&] {
      const auto key = stream_key(context.seed, purpose::dropout, 0, round);
      auto metrics = model->compute_gradients(batch, key, gradients);
      done = metrics ? model->apply(gradients, 0.003)
                     : result<void>{std::move(metrics).error()};
    });
    GRAPHMILL_TRYV(std::move(done));
    step = std::min(step, seconds);
    products = std::min(products, time_products(layers, pool));
  }
  return std::vector<bench_figure>{{.name = "step",
                                    .value = step * 1e3,
                                    .unit = "ms",
                                    .limit = products * 1e3,
                                    .ratio = step / products}};
}

} // namespace graphmill
