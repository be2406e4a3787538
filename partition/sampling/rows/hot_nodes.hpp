#pragma once

#include "partition/sampling/inclusion.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// Adds how likely each node is in a batch: `inclusion`, driven to its end with
/// all parts at hand.
/// @param shards All parts, in order.
/// @param scores Of all nodes (see `no_scores`).
result<void> add_inclusion(const partitioned_graph& graph,
                           std::span<const std::shared_ptr<const shard>> shards,
                           const sampling_scheme& scheme,
                           std::span<const seed_chance> seeds,
                           node_scores& scores,
                           const inclusion_limits& limits = {});

/// Adds the out-degrees, over all edge types, of the nodes that a part owns:
/// the simpler order, `fetch.cache_order: degree`, which knows neither seeds
/// nor fanouts.
void add_degrees(const shard& part, node_scores& scores);

/// The nodes of other parts whose rows a daemon keeps. Value type.
struct hot_nodes {
  std::vector<std::vector<node_id>> ids; ///< Per type, ascending.
  std::uint64_t bytes = 0;               ///< Of their rows, as kept.
  bool half = false; ///< Rows are rounded to float16 wherever they lie.
};

/// Whether rows of a type are kept as they travel between daemons, as float16:
/// if all rows are rounded to it, or if the dataset has no more. Packed rows
/// are not: half of them are columns.
bool kept_as_half(const node_type_info& type, bool half);

/// Bytes of a row of a type, as it is kept.
std::uint64_t kept_row_bytes(const node_type_info& type, bool half);

/// The nodes with features that none of the parts `here` owns, best first, as
/// many as fit into `budget` bytes of rows. Rows of all types compete by score
/// alone: a row that is wanted as often as another saves bytes in proportion to
/// what it takes. Of equal scores, types in dataset order and lower ids go
/// first, so that every daemon chooses alike. Nodes with score 0, which
/// evaluation may want, come last.
/// @param half Whether rows are rounded to float16.
hot_nodes choose_hot_nodes(const partitioned_graph& graph,
                           std::span<const part_id> here,
                           const node_scores& scores, std::uint64_t budget,
                           bool half);

} // namespace graphmill
