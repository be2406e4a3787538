#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"
#include "partition/files/mapped_file.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

namespace graphmill {

/// The ids that nodes of a type had in the tables which `import csv` has read:
/// nodes/<type>/ids.txt of a dataset, a line for each node. The file is mapped,
/// and where its lines end is kept: 8 bytes for each node.
class table_ids {
public:
  /// Null if there is no such file: the dataset was made of something else, or
  /// cut into parts. Fails if it has not a line for each node.
  /// @param dataset Its folder.
  static result<std::shared_ptr<const table_ids>>
  open(const std::filesystem::path& dataset, const dataset_info& info,
       node_type_id type);

  /// @param node From 0 to the number of nodes. The view lives as long as this.
  std::string_view of(node_id node) const;

private:
  mapped_file text_;
  std::vector<std::uint64_t> ends_; ///< By node, of its line.
};

} // namespace graphmill
