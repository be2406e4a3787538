#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv_features.hpp"
#include "partition/importers/csv/csv_rows.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace graphmill {

/// Makes features of the rows of one edge list, once they are fitted. What is
/// wrong with a cell rejects its row. Refers to the features.
class csv_edge_features {
public:
  csv_edge_features(const csv_table& table, const csv_layout& layout,
                    csv_features& features)
    : table_(table), layout_(layout), features_(features),
      fields_(features.fields.size()) {
    features_.columns.begin_notes();
  }

  /// The features of the row at hand; none if the list has none, or if the row
  /// is rejected. Valid until the next call.
  result<std::span<const float>> read(csv_rows& rows);

  /// Looks for errors alone, fitted or not, unless that was done.
  result<void> check(csv_rows& rows);

private:
  void take_fields(const csv_rows& rows);
  result<void> reject(csv_rows& rows, std::size_t field, const error& wrong);

  const csv_table& table_;
  const csv_layout& layout_;
  csv_features& features_;
  std::vector<std::string_view> fields_;
  std::vector<double> values_;
  std::vector<float> narrow_;
};

} // namespace graphmill
