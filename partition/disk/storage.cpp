#include "partition/disk/storage.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <span>

namespace graphmill {

namespace {

/// Advises the kernel on the pages of an array.
void advise(std::span<const std::byte> bytes, int advice) {
  const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  if (!bytes.empty()) // Advice: failure is harmless.
    ::madvise(reinterpret_cast<void*>(at - at % page), at % page + bytes.size(),
              advice);
}

std::size_t dense_bytes(const shard& part, std::size_t type) {
  const auto& nodes = part.nodes(static_cast<node_type_id>(type));
  return nodes.features == nullptr
           ? 0
           : static_cast<std::size_t>(nodes.end - nodes.begin)
               * part.info().node_types[type].dense_row_bytes();
}

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
  for (std::size_t t = 0; t < info.node_types.size(); ++t)
    out.features += dense_bytes(part, t);
  for_each_array(part, [&out](std::span<const std::byte> bytes) {
    out.others += bytes.size();
  });
  return out;
}

void leave_on_disk(const shard& part) {
  for_each_array(
    part, [](std::span<const std::byte> bytes) { advise(bytes, MADV_RANDOM); });
}

void keep_in_memory(const shard& part) {
  // Smaller ones have few pages.
  constexpr std::size_t least = std::size_t{8} << 20;
  const auto keep = [](std::span<const std::byte> bytes) {
    if (bytes.size() >= least)
      advise(bytes, MADV_HUGEPAGE);
  };
  for_each_array(part, keep);
  for (std::size_t t = 0; t < part.info().node_types.size(); ++t)
    keep({part.nodes(static_cast<node_type_id>(t)).features,
          dense_bytes(part, t)});
}

disk_memory divide(std::uint64_t bytes, const part_bytes& data) {
  const auto pages = std::min(bytes / 2, data.others);
  return {std::min(bytes - pages, data.features + data.features / 4), pages};
}

} // namespace graphmill
