#pragma once

#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"
#include "partition/importers/graph_changes.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace graphmill {

/// Counts rows of a table that cover several lines and may be several rows: a
/// quote that is missing or too many makes one of them. Value type.
class rows_of_lines {
public:
  /// Adds the row that a reader is at.
  /// @param separators In each of its lines, of which there are several.
  void add(const csv_reader& rows, std::span<const std::int64_t> separators);

  /// Says how many of the rows are unlike what a table has on purpose.
  /// @param all How many rows the table has, of one line and of several.
  void tell(const csv_table& table, std::int64_t all,
            const note_callback& on_note) const;

private:
  std::int64_t long_ = 0;   ///< They cover many lines.
  std::string longest_row_; ///< For people: where the longest of them is.
  std::int64_t longest_lines_ = 0;
  /// They have separators in a field of several lines.
  std::int64_t separated_ = 0;
  std::int64_t merged_ = 0;     ///< Of these: each line has those of a row.
  std::string first_separated_; ///< Where; one of the latter, if there is one.
};

} // namespace graphmill
