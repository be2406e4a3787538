#pragma once

#include "partition/sampling/inclusion.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace graphmill {

/// Adds how likely each node is in a batch: runs `inclusion` to its end, with
/// all parts present.
/// @param shards All parts, in order.
/// @param scores Of all nodes (see `no_scores`).
result<void> add_inclusion(const partitioned_graph& graph,
                           std::span<const std::shared_ptr<const shard>> shards,
                           const sampling_scheme& scheme,
                           std::span<const seed_chance> seeds,
                           node_scores& scores,
                           const inclusion_limits& limits = {});

/// Adds the out-degrees, over all edge types, of the nodes of a part: the
/// simpler order, `fetch.cache_order: degree`, which depends on neither seeds
/// nor fanouts.
void add_degrees(const shard& part, node_scores& scores);

/// The nodes of other parts whose rows a daemon keeps. Value type.
struct hot_nodes {
  std::vector<std::vector<node_id>> ids; ///< Per type, ascending.
  std::uint64_t bytes = 0;               ///< Of their rows, as kept.
  bool half = false; ///< Rows are rounded to float16 in any place.
};

/// Whether rows of a type are kept as float16, as they travel: if all rows are
/// rounded to it, or if the dataset has no more. Packed rows are not: half of
/// them are columns.
bool kept_as_half(const node_type_info& type, bool half);

/// The same of edges.
bool kept_as_half(const edge_type_info& type, bool half);

/// Bytes of a kept row of a type.
std::uint64_t kept_row_bytes(const node_type_info& type, bool half);

/// The nodes with features that none of the parts `here` owns, best first, as
/// many as fit into `budget` bytes of rows. Rows of all types compete by score
/// alone: equally wanted rows save bytes in proportion to their size. Of equal
/// scores, types in dataset order and lower ids come first, so that every
/// daemon chooses the same. Nodes with score 0, which evaluation may need, come
/// last.
/// @param half Whether rows are rounded to float16.
hot_nodes choose_hot_nodes(const partitioned_graph& graph,
                           std::span<const part_id> here,
                           const node_scores& scores, std::uint64_t budget,
                           bool half);

} // namespace graphmill
