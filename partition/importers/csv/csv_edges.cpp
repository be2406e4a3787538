#include "partition/importers/csv/csv_edges.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace graphmill {

result<void> for_each_csv_edge(const csv_table& table, const csv_layout& layout,
                               char separator, row_errors& errors,
                               const edge_visitor& visit,
                               const note_callback& on_note) {
  if (layout.count() == 0)
    return ok(); // An empty file.
  // What has no column stays empty.
  csv_edge edge;
  std::vector<std::pair<std::string_view csv_edge::*, std::size_t>> cells;
  for (const auto& [cell, column] :
       {std::pair{&csv_edge::source, layout.source},
        std::pair{&csv_edge::destination, layout.destination},
        std::pair{&csv_edge::relation, layout.relation},
        std::pair{&csv_edge::weight, layout.weight},
        std::pair{&csv_edge::edge_time, layout.edge_time}})
    if (column)
      cells.emplace_back(cell, *column);
  GRAPHMILL_TRY(auto rows, csv_rows::open(table, layout, separator, errors));
  for (;;) {
    GRAPHMILL_TRY(const auto there, rows.next());
    if (!there)
      break;
    for (const auto& [cell, column] : cells)
      edge.*cell = trim_blanks(rows.fields()[column]);
    GRAPHMILL_TRYV(visit(edge, rows));
  }
  rows.tell_notes(on_note);
  return ok();
}

} // namespace graphmill
