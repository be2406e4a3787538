#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/mapped_file.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace graphmill {

/// The names that nodes of a type had before the import: the ids of the tables
/// that `import csv` has read (nodes/<type>/ids.txt), or what to_graphmill has
/// noted (node_names.txt, JSON); a line for each node. The file is mapped, and
/// where its lines end is kept: 8 bytes for each node.
class table_ids {
public:
  /// Null if there is no such file. Fails if it has not a line for each node.
  /// @param dataset Its folder.
  static result<std::shared_ptr<const table_ids>>
  open(const std::filesystem::path& dataset, const dataset_info& info,
       node_type_id type);

  /// @param node From 0 to the number of nodes.
  std::string of(node_id node) const;

  const std::filesystem::path& file() const { return file_; }

private:
  std::filesystem::path file_;
  bool json_ = false; ///< Lines are JSON.
  mapped_file text_;
  std::vector<std::uint64_t> ends_; ///< By node, of its line.
};

} // namespace graphmill
