#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/dataset/dataset.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace graphmill {

/// Labels and splits on their way into files: those of a node type, or of one
/// of its label sets. The type is given as they show it (`with_labels_of`), and
/// its name is what errors say. Value type.
struct kept_labels {
  /// [nodes] Classes, -1 = none; of rows of labels, 0 or -1.
  std::vector<std::int64_t> labels;
  /// [nodes, label_bytes()] Where nodes have rows of labels, else empty.
  std::vector<std::uint8_t> rows;
  bool labelled = false; ///< Whether labels were taken.
  std::array<std::vector<node_id>, 3> splits;

  /// Takes one class for each node, checked.
  result<void> take_classes(const node_type_info& type,
                            std::span<const std::int64_t> given);

  /// Takes a row of labels for each node, checked.
  result<void> take_rows(const node_type_info& type,
                         std::vector<std::uint8_t> given);

  /// Checks seeds, which need labels, and writes the files.
  /// @param set The label set; empty: the type's own labels.
  /// @param need_seeds Whether it is an error if all splits are empty.
  /// @param counts Get the numbers of seeds.
  result<void> write(const std::filesystem::path& folder,
                     const node_type_info& type, std::string_view set,
                     bool need_seeds,
                     std::array<std::int64_t, 3>& counts) const;
};

} // namespace graphmill
