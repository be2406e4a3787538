#include "partition/disk/storage.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace graphmill {

namespace {

/// Calls `visit` for each array of a part but dense features of its nodes.
template <class Visit>
void for_each_array(const shard& part, Visit visit) {
  const auto& info = part.info();
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    const auto& nodes = part.nodes(static_cast<node_type_id>(t));
    visit(std::as_bytes(nodes.original_ids));
    visit(std::as_bytes(nodes.labels));
    visit(std::as_bytes(nodes.label_rows));
    const auto& sparse = nodes.sparse;
    visit(std::as_bytes(sparse.indptr));
    visit(std::as_bytes(sparse.columns));
    visit(
      std::span{sparse.values, sparse.columns.size()
                                 * size_of(info.node_types[t].feature_type)});
  }
  for (std::size_t e = 0; e < info.edge_types.size(); ++e) {
    const auto& edges = part.edges(static_cast<edge_type_id>(e));
    visit(std::as_bytes(edges.indptr));
    visit(
      std::span{edges.indices.data, static_cast<std::size_t>(edges.indices.size)
                                      * (edges.indices.wide ? 8 : 4)});
    visit(std::as_bytes(edges.original_begin));
    visit(std::as_bytes(edges.in_degrees));
    visit(std::as_bytes(edges.out_degrees));
    visit(std::as_bytes(edges.weights));
    visit(std::as_bytes(edges.in_weights));
    visit(std::as_bytes(edges.out_weights));
    visit(std::as_bytes(edges.visible));
    visit(std::as_bytes(edges.times));
    if (edges.features != nullptr)
      visit(
        std::span{edges.features, static_cast<std::size_t>(edges.indices.size)
                                    * info.edge_types[e].feature_row_bytes()});
  }
}

} // namespace

part_bytes bytes_of(const shard& part) {
  part_bytes out;
  const auto& info = part.info();
  for (std::size_t t = 0; t < info.node_types.size(); ++t) {
    const auto& nodes = part.nodes(static_cast<node_type_id>(t));
    const auto& type = info.node_types[t];
    if (nodes.features != nullptr)
      out.features += static_cast<std::uint64_t>(nodes.end - nodes.begin)
                      * type.dense_row_bytes();
  }
  for_each_array(part, [&out](std::span<const std::byte> bytes) {
    out.others += bytes.size();
  });
  return out;
}

void leave_on_disk(const shard& part) {
  for_each_array(part, [](std::span<const std::byte> bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    if (!bytes.empty())
      ::madvise(reinterpret_cast<void*>(at - at % page),
                at % page + bytes.size(), MADV_RANDOM);
  });
}

disk_memory divide(std::uint64_t bytes, const part_bytes& data) {
  const auto pages = std::min(bytes / 2, data.others);
  return {std::min(bytes - pages, data.features + data.features / 4), pages};
}

} // namespace graphmill
