#include "partition/shard.hpp"

#include <algorithm>

namespace graphmill {

part_id partitioned_graph::owner(node_type_id type, node_id global) const {
  const auto& cuts = offsets_[type];
  const auto after = std::upper_bound(cuts.begin() + 1, cuts.end() - 1, global);
  return static_cast<part_id>(after - cuts.begin() - 1);
}

} // namespace graphmill
