#pragma once

#include <cstdint>
#include <string_view>

namespace graphmill {

/// A node within its node type. In a partitioned dataset it is the *global* id:
/// each part owns a contiguous range. The *original* id is that of the dataset
/// before partitioning. Without partitioning both are the same.
using node_id = std::int64_t;

/// An edge within its edge type: its position in the original `indices.npy`.
using edge_id = std::int64_t;

/// A node's row in a batch: nodes of one type in discovery order, seeds first.
using local_id = std::int32_t;

/// Position in `dataset_info::node_types`, in dataset order.
using node_type_id = std::int32_t;

/// Position in `dataset_info::edge_types`, in dataset order.
using edge_type_id = std::int32_t;

/// A part of a partitioned dataset, from 0.
using part_id = std::int32_t;

/// A trainer in its data-parallel group, from 0.
using rank_id = std::int32_t;

/// The split from which a batch draws its seeds. It also separates random
/// streams.
enum class phase : std::uint8_t { train, validation, test };

constexpr std::string_view to_string(phase which) {
  switch (which) {
  case phase::train:
    return "train";
  case phase::validation:
    return "validation";
  case phase::test:
    return "test";
  }
  return "unknown";
}

/// Names a batch. Batches are finished in the order of `step`, then `rank`.
struct batch_key {
  graphmill::phase phase = graphmill::phase::train;
  std::int32_t epoch = 0;
  std::int64_t step = 0; ///< Global step within the epoch, from 0.
  rank_id rank = 0;

  friend auto operator<=>(const batch_key&, const batch_key&) = default;
};

} // namespace graphmill
