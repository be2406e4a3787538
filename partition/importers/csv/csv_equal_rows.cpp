#include "partition/importers/csv/csv_equal_rows.hpp"

#include "messages/base/pluralized.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace graphmill {

csv_equal_rows::csv_equal_rows(const csv_import_options& options,
                               const csv_layout& layout)
  : layout_(layout),
    drops_(layout.edge_time
           && options.changes.duplicates == duplicate_edges::drop) {}

bool csv_equal_rows::repeats(const csv_rows& rows) {
  if (!drops_)
    return false;
  row_.clear();
  for (std::size_t i = 0; i < layout_.count(); ++i) {
    if (std::ranges::find(layout_.ignored, i) != layout_.ignored.end())
      continue;
    const auto field = trim_blanks(rows.fields()[i]);
    fmt::format_to(std::back_inserter(row_), "{}:{}", field.size(), field);
  }
  const auto there = rows_.find(row_).has_value();
  repeated_ += there ? 1 : 0;
  return there;
}

void csv_equal_rows::keep() {
  if (drops_)
    rows_.insert(row_);
}

void csv_equal_rows::note(const csv_table& table,
                          const note_callback& on_note) const {
  if (repeated_ > 0)
    tell_note(on_note, "{}: {} equal to an earlier one in all columns dropped",
              table.file.filename().string(), pluralized(repeated_, "row"));
}

} // namespace graphmill
