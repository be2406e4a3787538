#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/shard.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <utility>
#include <vector>

namespace graphmill {

/// Two nodes that an edge joins: its source and its destination.
using node_pair = std::pair<node_id, node_id>;

/// The edges of a type as they were written, found by their nodes. Move-only.
class edge_index {
public:
  /// @param folder Of the type.
  static result<edge_index> open(const std::filesystem::path& folder,
                                 const edge_type_info& about) {
    edge_index out;
    GRAPHMILL_TRY(out.indptr_, npy_array::open(folder / "indptr.npy"));
    GRAPHMILL_TRY(out.indices_, npy_array::open(folder / "indices.npy"));
    if (about.leveled) {
      GRAPHMILL_TRY(out.visible_, npy_array::open(folder / visible_file));
    }
    return out;
  }

  std::int64_t lists() const { return indptr_.size() - 1; }
  std::int64_t begin(node_id destination) const {
    return reinterpret_cast<const std::int64_t*>(indptr_.data())[destination];
  }
  node_id source(edge_id edge) const {
    return id_span{indices_.data(), indices_.size(),
                   indices_.type() == dtype::int64}[edge];
  }

  /// Calls `visit` with the edges of level 0 between two nodes.
  /// @pre the type is leveled
  template <class Visit>
  void each_visible(const node_pair& nodes, Visit visit) {
    sort_lists();
    const auto first = order_.begin() + begin(nodes.second);
    const auto last = first + visible(nodes.second);
    auto at = std::partition_point(
      first, last, [&](edge_id e) { return source(e) < nodes.first; });
    for (; at != last && source(*at) == nodes.first; ++at)
      visit(*at);
  }

private:
  std::int32_t visible(node_id destination) const {
    return reinterpret_cast<const std::int32_t*>(
      visible_.data())[2 * destination];
  }

  /// The visible edges of each list by their sources.
  void sort_lists() {
    if (!order_.empty() || indices_.size() == 0)
      return;
    order_.resize(static_cast<std::size_t>(indices_.size()));
    std::iota(order_.begin(), order_.end(), edge_id{0});
    for (node_id d = 0; d < lists(); ++d)
      std::ranges::sort(order_.begin() + begin(d),
                        order_.begin() + begin(d) + visible(d), {},
                        [this](edge_id e) {
                          return std::pair{source(e), e};
                        });
  }

  npy_array indptr_;
  npy_array indices_;
  npy_array visible_;
  std::vector<edge_id> order_;
};

} // namespace graphmill
