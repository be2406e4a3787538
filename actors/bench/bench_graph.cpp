#include "actors/bench/bench_graph.hpp"

#include "partition/importers/rmat/rmat.hpp"
#include "partition/writing/dataset_writer.hpp"

#include <algorithm>
#include <system_error>

namespace graphmill {

namespace fs = std::filesystem;

result<fs::path> bench_dataset(const bench_context& context) {
  std::error_code failed;
  fs::create_directories(context.cache, failed);
  if (failed)
    return fail_errno(failed.value(), "cannot make the folder {}",
                      context.cache.string());
  rmat_options options;
  options.scale = context.scale;
  options.seed = context.seed;
  const auto folder =
    context.cache / fmt::format("rmat-{}-seed-{}", options.scale, options.seed);
  GRAPHMILL_TRYV(prepare_folder(
    folder,
    [&options, &context](const fs::path& to) -> result<bool> {
      GRAPHMILL_TRYV(import_rmat(options, to, context.on_progress));
      return true;
    },
    context.on_progress));
  return folder;
}

result<bench_graph> open_bench_graph(const bench_context& context) {
  GRAPHMILL_TRY(const auto folder, bench_dataset(context));
  GRAPHMILL_TRY(auto graph, partitioned_graph::open(folder));
  GRAPHMILL_TRY(auto shard, graph.open_shard(0));
  if (graph.seeds(split::train).empty())
    return fail(ec::invalid_argument,
                "the graph of scale {} has no training seeds: use a larger one",
                context.scale);
  return bench_graph{std::move(graph), {std::move(shard)}};
}

sampling_scheme bench_scheme(const dataset_info& info) {
  sampling_scheme scheme;
  for (auto fanout : {15, 10, 5})
    scheme.fanouts.emplace_back(info.edge_types.size(), fanout);
  return scheme;
}

std::vector<node_id> bench_seeds(const partitioned_graph& graph,
                                 std::int64_t step) {
  const auto train_seeds = graph.seeds(split::train);
  const auto size = std::min(bench_batch_size, train_seeds.size());
  std::vector<node_id> seeds;
  for (std::size_t i = 0; i < size; ++i)
    seeds.push_back(train_seeds[(static_cast<std::size_t>(step) * size + i)
                                % train_seeds.size()]);
  return seeds;
}

} // namespace graphmill
