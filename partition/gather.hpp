#pragma once

#include "messages/error.hpp"
#include "partition/shard.hpp"

#include <cstdint>
#include <span>

namespace graphmill {

/// Copies feature rows of owned nodes into `out`, widening float16. Fails at
/// the first row with a value that is no finite number: it would spread to all
/// weights, or vanish in a ReLU. Much at once is written past the cache.
/// @param ids Global ids that the shard owns, of a type with features.
/// @param rows Where each id's row goes in `out`: row `rows[i]`; empty = i.
/// @param out [any rows, feature width] float32.
/// @param rounded Round every value to float16; fails at one beyond its range.
result<void> gather_features(const shard& graph, node_type_id type,
                             std::span<const node_id> ids,
                             std::span<const local_id> rows, float* out,
                             bool rounded = false);

/// Copies one int32 or int64 value per node, like `gather_features`.
template <class T>
void gather_values(std::span<const T> values, node_id begin,
                   std::span<const node_id> ids, std::span<const local_id> rows,
                   T* out) {
  for (std::size_t i = 0; i < ids.size(); ++i)
    out[rows.empty() ? static_cast<local_id>(i) : rows[i]] =
      values[static_cast<std::size_t>(ids[i] - begin)];
}

} // namespace graphmill
