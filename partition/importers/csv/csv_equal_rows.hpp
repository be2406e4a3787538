#pragma once

#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/csv_rows.hpp"
#include "partition/importers/csv/text/id_map.hpp"

#include <cstdint>
#include <string>

namespace graphmill {

/// Finds rows of an edge list that an earlier row equals in all columns that
/// are read. Of edges with times these are the duplicates that `--duplicates
/// drop` drops: others are events of their own. Keeps the text of all rows.
/// Refers to the layout.
class csv_equal_rows {
public:
  csv_equal_rows(const csv_import_options& options, const csv_layout& layout);

  /// Whether the row is one to be dropped, which it counts.
  bool repeats(const csv_rows& rows);

  /// Remembers the row that `repeats` was asked about last: it makes an edge.
  void keep();

  /// Says how many rows were to be dropped.
  void note(const csv_table& table, const note_callback& on_note) const;

private:
  const csv_layout& layout_;
  bool drops_;
  std::string row_;
  id_map rows_;
  std::int64_t repeated_ = 0;
};

} // namespace graphmill
