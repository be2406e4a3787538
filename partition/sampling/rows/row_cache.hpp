#pragma once

#include "messages/base/buffer.hpp"
#include "messages/base/error.hpp"
#include "partition/sampling/rows/hot_nodes.hpp"

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace graphmill {

/// The feature rows of hot nodes of other parts, in the precision in which they
/// travel: a budget holds twice as many rows of float16.
///
///     empty -- hold --> being filled, by `put` -- open --> open
///
/// It begins empty, so that those who will use it can be given it before there
/// is anything in it. One thread at a time may fill it. Once it is open, it
/// never changes any more, and any number of threads may call `find`; before
/// that they must ask `is_open`, which also makes the rows visible to them.
/// Nothing is ever replaced, so that what is in it depends on dataset,
/// definition and placement alone. Owns all rows.
class row_cache {
public:
  /// Takes memory for the rows of these nodes; once. Fails with `out_of_memory`
  /// if there is none.
  result<void> hold(const dataset_info& info, hot_nodes nodes);

  /// Node types of the dataset; none before `hold`.
  std::size_t type_count() const { return types_.size(); }
  /// The nodes of a type whose rows it holds or will hold, ascending.
  std::span<const node_id> ids(node_type_id type) const {
    return types_[static_cast<std::size_t>(type)].ids;
  }
  /// Takes the rows [n, width] of the nodes from `ids(type)[first]` on; before
  /// `open`. Where rows are kept as float16, the values must be such, so that
  /// nothing is lost.
  void put(node_type_id type, std::size_t first, std::span<const float> rows);
  std::size_t width(node_type_id type) const {
    return types_[static_cast<std::size_t>(type)].width;
  }

  /// Says that all rows are there; before that, nothing may be looked for.
  void open() { open_.store(true, std::memory_order_release); }
  bool is_open() const { return open_.load(std::memory_order_acquire); }

  /// Writes a node's row [width], if it is there.
  /// @returns whether it is.
  bool find(node_type_id type, node_id id, float* out) const;

  std::uint64_t byte_size() const;

  /// Memory of a row beside its values, at the most: id and slots.
  static constexpr std::uint64_t bytes_per_row =
    sizeof(node_id) + 4 * sizeof(std::uint32_t);

private:
  struct of_type {
    std::vector<node_id> ids;
    std::size_t width = 0;
    bool half = false;
    pod_vector<float> rows;           ///< Empty if `half`,
    pod_vector<std::uint16_t> halves; ///< else this one is.
    std::vector<std::uint32_t> slots; ///< Position in `ids` + 1; 0 = free.
  };

  std::vector<of_type> types_;
  std::atomic<bool> open_{false};
};

} // namespace graphmill
