#include "partition/dataset/proved_arrays.hpp"

#include "partition/dataset/dataset_names.hpp"
#include "partition/files/content_hash.hpp"
#include "partition/files/npy/npy.hpp"

#include <utility>

namespace graphmill {

namespace fs = std::filesystem;

bool has_array(const node_type_info& type, proved_array which) {
  return which == proved_array::original_ids
         || (which == proved_array::features && type.dense_row_bytes() > 0)
         || (which == proved_array::labels && type.class_count > 0);
}

block_layout layout_of(const node_type_info& type, std::int64_t rows,
                       proved_array which) {
  if (which == proved_array::labels)
    return {rows, type.label_bytes()};
  if (which != proved_array::features)
    return {rows, sizeof(std::int64_t)};
  return {rows, type.dense_row_bytes()};
}

std::span<const std::byte> elements_of(const shard& part, node_type_id type,
                                       proved_array which) {
  const auto& nodes = part.nodes(type);
  switch (which) {
  case proved_array::features: {
    if (nodes.features == nullptr)
      return {};
    const auto layout =
      layout_of(part.info().node_types[type], nodes.end - nodes.begin, which);
    return {nodes.features, static_cast<std::size_t>(layout.rows)
                              * static_cast<std::size_t>(layout.row_bytes)};
  }
  case proved_array::labels:
    return nodes.label_rows.empty() ? std::as_bytes(nodes.labels)
                                    : std::as_bytes(nodes.label_rows);
  case proved_array::original_ids:
    return std::as_bytes(nodes.original_ids);
  }
  return {};
}

result<written_trees> write_trees(const fs::path& folder,
                                  const dataset_info& info) {
  written_trees out;
  for (node_type_id t = 0; t < std::ssize(info.node_types); ++t) {
    const auto& type = info.node_types[t];
    for (auto which : all_proved_arrays) {
      if (!has_array(type, which))
        continue;
      const auto path = node_folder(folder, info, t) / file_of(which);
      GRAPHMILL_TRY(const auto array, npy_array::open(path));
      array.file().advise_sequential();
      const auto tree =
        tree_over(array.bytes(), layout_of(type, type.count, which));
      const auto file = node_folder(folder, info, t) / tree_file_of(which);
      const auto bytes = std::as_bytes(std::span{tree});
      GRAPHMILL_TRYV(
        write_npy_bytes(file, dtype::uint8,
                        {std::ssize(tree), std::ssize(block_digest{})}, bytes));
      content_hash hash;
      hash.update(bytes);
      out.digests[file.lexically_relative(folder).string()] = hash.digest();
      out.roots[path.lexically_relative(folder).string()] =
        tree.empty() ? std::string{} : to_string(tree.back());
    }
  }
  if (auto broken = mapped_file::first_fault())
    return *std::move(broken);
  return out;
}

} // namespace graphmill
