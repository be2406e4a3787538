#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/csv_rows.hpp"
#include "partition/importers/csv/row_errors.hpp"

#include <functional>
#include <string_view>

namespace graphmill {

/// A row of an edge list. The texts are valid while it is visited.
struct csv_edge {
  std::string_view source;
  std::string_view destination;
  std::string_view relation; ///< Empty without such a column.
  std::string_view weight;   ///< Likewise, and so the next.
  std::string_view edge_time{};
};

/// Is given an edge and the rows that it is one of, to reject it.
using edge_visitor = std::function<result<void>(const csv_edge&, csv_rows&)>;

/// Reads the edges of a table in order, without headers and rejected rows.
/// Stops at the first error of `visit`.
/// @param on_note Is told how many lines were comments.
result<void> for_each_csv_edge(const csv_table& table, const csv_layout& layout,
                               char separator, row_errors& errors,
                               const edge_visitor& visit,
                               const note_callback& on_note = {});

} // namespace graphmill
