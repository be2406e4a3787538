#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/block_tree.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What `partitions.json` says, checked. Value type.
struct partition_book {
  dataset_info info;
  std::vector<std::vector<node_id>> offsets;
  std::vector<std::string> part_digests;
  /// [part][node type], by `proved_array`.
  std::vector<std::vector<std::array<std::optional<block_digest>, 3>>> roots;
  /// Digests of the maps between original and new ids, by path. Books of older
  /// versions have none.
  std::map<std::string, std::string> order_digests;
};

/// Reads and checks a `partitions.json`. Files of older versions have no digest
/// of themselves.
result<partition_book> read_book(const std::filesystem::path& path);

} // namespace graphmill
