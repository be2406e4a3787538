#include "partition/partitioners/renumbering.hpp"

#include <numeric>
#include <utility>

namespace graphmill {

renumbering renumber(std::span<const vertex_id> type_begin,
                     std::span<const part_id> assignment, part_id parts) {
  renumbering out;
  for (std::size_t type = 0; type + 1 < type_begin.size(); ++type) {
    const auto owners = assignment.subspan(
      type_begin[type], type_begin[type + 1] - type_begin[type]);
    std::vector<node_id> offsets(parts + 1);
    for (auto p : owners)
      ++offsets[p + 1];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<node_id> originals(owners.size());
    std::vector<node_id> globals(owners.size());
    auto next = offsets;
    for (std::size_t id = 0; id < owners.size(); ++id) {
      const auto global = next[owners[id]]++;
      globals[id] = global;
      originals[global] = static_cast<node_id>(id);
    }
    out.offsets.push_back(std::move(offsets));
    out.originals.push_back(std::move(originals));
    out.globals.push_back(std::move(globals));
  }
  return out;
}

} // namespace graphmill
