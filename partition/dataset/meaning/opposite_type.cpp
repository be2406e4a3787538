#include "partition/dataset/meaning/opposite_type.hpp"

#include "partition/dataset/meaning/type_name.hpp"

namespace graphmill {

namespace {

bool is_reverse(const edge_type_info& of, const edge_type_info& other) {
  if (other.source != of.destination || other.destination != of.source)
    return false;
  const auto name = "rev_" + of.name;
  return other.name == name || other.name == type_name_for(name);
}

std::optional<edge_type_id> named_opposite(const dataset_info& info,
                                           edge_type_id of) {
  const auto& type = info.edge_types[static_cast<std::size_t>(of)];
  std::optional<edge_type_id> out;
  for (std::size_t i = 0; i < info.edge_types.size(); ++i) {
    if (is_reverse(info.edge_types[i], type))
      return static_cast<edge_type_id>(i);
    if (is_reverse(type, info.edge_types[i]))
      out = static_cast<edge_type_id>(i);
  }
  return out;
}

} // namespace

std::optional<edge_type_id> opposite_type(const dataset_info& info,
                                          edge_type_id of) {
  const auto& type = info.edge_types[static_cast<std::size_t>(of)];
  if (const auto named = named_opposite(info, of))
    return named_opposite(info, *named) == of ? named : std::nullopt;
  return type.source == type.destination ? std::optional{of} : std::nullopt;
}

} // namespace graphmill
