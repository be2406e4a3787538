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
    const auto take = [&fields](std::string_view& to,
                                std::optional<std::size_t> column) {
      if (column)
        to = trim_blanks(fields[*column]);
    };
    take(edge.relation, layout.relation);
    take(edge.weight, layout.weight);
    take(edge.task_label, layout.task_label);
    take(edge.task_split, layout.task_split);
    take(edge.task_time, layout.task_time);
    take(edge.task_weight, layout.task_weight);
    take(edge.task_negatives, layout.task_negatives);
    GRAPHMILL_TRYV(visit(edge, rows));
  }
  rows.tell_notes(on_note);
  return ok();
}

} // namespace graphmill
