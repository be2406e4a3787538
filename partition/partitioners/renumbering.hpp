#pragma once

#include "messages/base/ids.hpp"
#include "partition/partitioners/graph/loads.hpp"

#include <span>
#include <vector>

namespace graphmill {

/// New node ids, so that each part owns a contiguous range of each type. Within
/// a part, nodes ascend by original id.
struct renumbering {
  /// [type][parts + 1]: part p owns global ids offsets[p] to offsets[p + 1].
  std::vector<std::vector<node_id>> offsets;
  std::vector<std::vector<node_id>> originals; ///< [type][global id]
  std::vector<std::vector<node_id>> globals;   ///< [type][original id]

  node_id begin(node_type_id type, part_id p) const { return offsets[type][p]; }
  node_id end(node_type_id type, part_id p) const {
    return offsets[type][p + 1];
  }
  node_id owned(node_type_id type, part_id p) const {
    return end(type, p) - begin(type, p);
  }
};

/// @param type_begin First vertex of each type, and the number of vertices.
/// @param assignment [vertices] Parts, all below `parts`.
renumbering renumber(std::span<const vertex_id> type_begin,
                     std::span<const part_id> assignment, part_id parts);

} // namespace graphmill
