#include "partition/importers/reverse.hpp"

#include <cstddef>

namespace graphmill {

void add_reverse_types(dataset_info& info) {
  const auto types = info.edge_types.size();
  for (std::size_t i = 0; i < types; ++i) {
    // A copy, for the list may move to other memory when it grows.
    const auto type = info.edge_types[i];
    info.edge_types.push_back({.source = type.destination,
                               .name = "rev_" + type.name,
                               .destination = type.source});
  }
}

result<void> append_both_ways(dataset_writer& writer, edge_type_id type,
                              edge_type_id reverse,
                              std::span<const node_id> sources,
                              std::span<const node_id> destinations) {
  GRAPHMILL_TRYV(writer.append_edges(type, sources, destinations));
  if (reverse < 0)
    return ok();
  return writer.append_edges(reverse, destinations, sources);
}

} // namespace graphmill
