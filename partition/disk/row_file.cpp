#include "partition/disk/row_file.hpp"

#include "partition/files/mapping_place.hpp"

#include <algorithm>

namespace graphmill {

namespace {

std::uint64_t cache_quota(const dataset_info& info, const node_type_info& type,
                          std::uint64_t cache_bytes) {
  const auto bytes = [](const node_type_info& of) {
    return double(of.count) * double(of.dense_row_bytes());
  };
  double total = 0;
  for (const auto& other : info.node_types)
    total += bytes(other);
  return static_cast<std::uint64_t>(double(cache_bytes) * bytes(type)
                                    / std::max(total, 1.0));
}

result<row_file> open_type(const shard& part, node_type_id type,
                           std::uint64_t cache_bytes, bool rounded) {
  const auto& info = part.info().node_types[type];
  const auto& nodes = part.nodes(type);
  const auto place = place_of(nodes.features);
  if (!place)
    return fail(ec::invalid_argument,
                "the features of node type \"{}\" are not in a file",
                info.name);
  GRAPHMILL_TRY(auto file, direct_file::open(place->path));
  const feature_row_copy copy{info, rounded};
  const row_layout layout{place->offset, copy.row_bytes(), file.alignment(), 0};
  return row_file{std::move(file),
                  layout,
                  copy,
                  {copy.row_bytes(),
                   cache_quota(part.info(), info, cache_bytes),
                   nodes.end - nodes.begin},
                  {},
                  {}};
}

} // namespace

result<std::vector<std::optional<row_file>>>
open_row_files(const shard& part, std::uint64_t cache_bytes, bool rounded) {
  std::vector<std::optional<row_file>> out(part.info().node_types.size());
  for (node_type_id t = 0; t < std::ssize(part.info().node_types); ++t) {
    if (part.info().node_types[t].feature_width == 0
        || part.nodes(t).features == nullptr)
      continue;
    GRAPHMILL_TRY(auto file, open_type(part, t, cache_bytes, rounded));
    out[t].emplace(std::move(file));
  }
  return out;
}

} // namespace graphmill
