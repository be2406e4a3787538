#pragma once

#include "partition/dataset/shard.hpp"
#include "partition/files/block_tree.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace graphmill {

/// Whether parts have such an array of a node type. Sparse features are in
/// other arrays, which cannot be proved.
bool has_array(const node_type_info& type, proved_array which);

/// The rows of such an array in blocks.
/// @param rows Nodes of the type that a part owns.
block_layout layout_of(const node_type_info& type, std::int64_t rows,
                       proved_array which);

/// The elements of such an array of a part; empty if it has none.
std::span<const std::byte> elements_of(const shard& part, node_type_id type,
                                       proved_array which);

/// The roots of the trees over a part's arrays, by path within its folder.
using block_roots = std::map<std::string, std::string>;

/// The files that were written beside the arrays of a part.
struct written_trees {
  block_roots roots;
  std::map<std::string, std::string> digests; ///< Of the trees, by path.
};

/// Writes the trees of a part beside its arrays, and reads these once. Holds
/// one tree at a time in memory, a sixtieth of its array.
/// @param folder Of the part.
/// @param info The content of its dataset.json.
result<written_trees> write_trees(const std::filesystem::path& folder,
                                  const dataset_info& info);

} // namespace graphmill
