#include "pipelines/planning/disk_fraction.hpp"

#include "partition/disk/sieve_cache.hpp"
#include "partition/sampling/rows/hot_nodes.hpp"
#include "pipelines/definition/validation/validation.hpp"
#include "pipelines/flow/epoch_plan.hpp"

#include <algorithm>
#include <functional>

namespace graphmill {

result<double>
expected_disk_fraction(const definition& def,
                       const std::shared_ptr<const partitioned_graph>& graph,
                       std::span<const std::shared_ptr<const shard>> shards,
                       std::uint64_t cache_bytes) {
  const auto& info = graph->info();
  GRAPHMILL_TRY(const auto scheme, resolve_fanouts(def, info));
  const auto trainers = static_cast<rank_id>(def.trainer.replicas);
  auto scores = no_scores(info);
  if (!draws_lists(scheme.method)) // A guess: no chances are known.
    for (const auto& part : shards)
      add_degrees(*part, scores);
  for (rank_id rank = 0; draws_lists(scheme.method) && rank < trainers; ++rank)
    GRAPHMILL_TRYV(add_inclusion(*graph, shards, scheme,
                                 seed_chances(def, graph, trainers, rank),
                                 scores));
  double total = 0;
  for (const auto& type : info.node_types)
    total += double(type.count) * double(type.dense_row_bytes());
  double wanted = 0;
  double held = 0;
  for (std::size_t t = 0; t < scores.size(); ++t) {
    const auto& type = info.node_types[t];
    const auto row_bytes = double(type.dense_row_bytes());
    if (row_bytes == 0) // Sparse features are read by pages.
      continue;
    auto& of_type = scores[t];
    // As row readers do, each type has its part of the cache by its bytes.
    const auto quota = double(cache_bytes) * double(type.count) * row_bytes
                       / std::max(total, 1.0);
    const auto rows = std::min(
      of_type.size(), static_cast<std::size_t>(
                        quota / (row_bytes + sieve_cache::bytes_per_row)));
    std::nth_element(of_type.begin(),
                     of_type.begin() + static_cast<std::ptrdiff_t>(rows),
                     of_type.end(), std::greater<>{});
    for (std::size_t i = 0; i < of_type.size(); ++i) {
      wanted += double(of_type[i]);
      held += i < rows ? double(of_type[i]) : 0.0;
    }
  }
  return wanted > 0 ? 1 - held / wanted : 0.0;
}

} // namespace graphmill
