#include "partition/importers/csv/csv_edges.hpp"

namespace graphmill {

result<void> for_each_csv_edge(const csv_table& table, const csv_layout& layout,
                               char separator, row_errors& errors,
                               const edge_visitor& visit,
                               const note_callback& on_note) {
  if (layout.count() == 0)
    return ok(); // An empty file.
  GRAPHMILL_TRY(auto rows, csv_rows::open(table, layout, separator, errors));
  for (;;) {
    GRAPHMILL_TRY(const auto there, rows.next());
    if (!there)
      break;
    const auto& fields = rows.fields();
    csv_edge edge{.source = trim_blanks(fields[*layout.source]),
                  .destination = trim_blanks(fields[*layout.destination]),
                  .relation = {},
                  .weight = {}};
    if (layout.relation)
      edge.relation = trim_blanks(fields[*layout.relation]);
    if (layout.weight)
      edge.weight = trim_blanks(fields[*layout.weight]);
    GRAPHMILL_TRYV(visit(edge, rows));
  }
  rows.tell_notes(on_note);
  return ok();
}

} // namespace graphmill
