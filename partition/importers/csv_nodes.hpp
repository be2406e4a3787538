#pragma once

#include "messages/error.hpp"
#include "partition/dataset_writer.hpp"
#include "partition/importers/csv.hpp"
#include "partition/importers/id_map.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// One node type of an import: what its table says, but for the features.
struct csv_node_type {
  std::string name;
  std::optional<csv_table> table;
  id_map ids;
  std::vector<std::int64_t> labels; ///< Empty without a column `label`.
  std::vector<std::string> class_names;
  std::array<std::vector<node_id>, 3> splits;
  std::vector<std::size_t> feature_columns; ///< In the table.
};

/// Reads a table's ids, labels and splits, and which columns are features.
result<csv_node_type> read_node_table(const csv_table& table,
                                      const csv_import_options& options);

/// Reads the table again and gives its features to a writer.
result<void> copy_csv_features(const csv_node_type& type, node_type_id id,
                               const csv_import_options& options,
                               dataset_writer& writer);

/// Numbers classes: the distinct texts in order, numerically if all of them
/// are integers. Empty texts, and -1 among integers, mean no label.
/// @param texts One per node.
/// @returns The names of the classes; `labels` gets one number per node.
std::vector<std::string> number_classes(std::span<const std::string> texts,
                                        std::vector<std::int64_t>& labels);

} // namespace graphmill
