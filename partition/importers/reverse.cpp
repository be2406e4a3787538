#include "partition/importers/reverse.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/dataset/meaning/type_name.hpp"

#include <cstddef>
#include <string>

namespace graphmill {

std::string reverse_name(const std::string& name) {
  auto reverse = "rev_" + name;
  return check_name(reverse, "") ? reverse : type_name_for(reverse);
}

edge_type_id add_reverse_type(dataset_info& info, edge_type_id of) {
  // A copy, for the list may move to other memory when it grows.
  const auto type = info.edge_types[static_cast<std::size_t>(of)];
  info.edge_types.push_back({.source = type.destination,
                             .name = reverse_name(type.name),
                             .destination = type.source,
                             .weighted = type.weighted,
                             .timed = type.timed,
                             .feature_width = type.feature_width,
                             .feature_type = type.feature_type});
  return static_cast<edge_type_id>(info.edge_types.size() - 1);
}

void add_reverse_types(dataset_info& info) {
  const auto types = static_cast<edge_type_id>(info.edge_types.size());
  for (edge_type_id type = 0; type < types; ++type)
    add_reverse_type(info, type);
}

result<void> append_both_ways(dataset_writer& writer, edge_type_id type,
                              edge_type_id reverse,
                              std::span<const node_id> sources,
                              std::span<const node_id> destinations,
                              std::span<const float> weights,
                              std::span<const float> features) {
  GRAPHMILL_TRYV(writer.append_edges(type, sources, destinations, weights));
  if (!features.empty())
    GRAPHMILL_TRYV(writer.append_edge_features(type, features));
  if (reverse < 0)
    return ok();
  GRAPHMILL_TRYV(writer.append_edges(reverse, destinations, sources, weights));
  return features.empty() ? ok()
                          : writer.append_edge_features(reverse, features);
}

} // namespace graphmill
