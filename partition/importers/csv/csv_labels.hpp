#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/csv_reader.hpp"
#include "partition/importers/csv/id_map.hpp"
#include "partition/importers/incoming_labels.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// The split that a field names, if it names one. Fails on what is none.
result<std::optional<split>> parse_csv_split(const csv_reader& rows,
                                             std::string_view text);

/// Numbers classes: the distinct texts in order, numerically if all of them
/// are integers. Empty texts, and -1 among integers, mean no label.
/// @param texts Of nodes, with or without repetitions.
/// @returns The names of the classes; `labels` gets one number per text.
std::vector<std::string> number_classes(std::span<const std::string> texts,
                                        std::vector<std::int64_t>& labels);

/// Labels of a table's nodes. Value type.
struct csv_classes {
  std::vector<std::int64_t> labels; ///< [nodes], or none without a column.
  std::vector<std::string> names;
};

/// Collects the labels in a column, row by row.
class label_texts {
public:
  void add(std::string_view field) {
    text_of_.push_back(texts_.insert(trim_blanks(field)).first);
  }

  csv_classes finish();

private:
  id_map texts_;
  std::vector<node_id> text_of_; ///< [nodes] In `texts_`.
};

/// Collects the columns of one label set, row by row.
class csv_set_reader {
public:
  explicit csv_set_reader(csv_set_columns columns)
    : columns_(std::move(columns)) {}

  /// @param node The number of the row's node.
  result<void> add(const csv_reader& rows, node_id node);

  /// @param own The labels of the type, for a set that is a split alone.
  result<incoming_labels> finish(const csv_classes& own,
                                 const csv_reader& rows);

private:
  csv_set_columns columns_;
  label_texts labels_;
  split_ids splits_;
};

} // namespace graphmill
