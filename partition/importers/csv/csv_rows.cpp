#include "partition/importers/csv/csv_rows.hpp"

#include "messages/base/pluralized.hpp"
#include "partition/importers/csv/csv_names.hpp"

#include <string>
#include <utility>

namespace graphmill {

result<csv_rows> csv_rows::open(const csv_table& table,
                                const csv_layout& layout, char separator,
                                row_errors& errors) {
  GRAPHMILL_TRY(auto reader,
                csv_reader::open(table.file, separator, table.comments));
  csv_rows rows{table, layout, separator, errors, std::move(reader)};
  GRAPHMILL_TRYV(rows.begin_file());
  return rows;
}

/// Goes past the header of the file.
result<void> csv_rows::begin_file() {
  left_out_ = &errors_->left_out(reader_.path());
  at_begin_ = true;
  if (!layout_->header)
    return ok();
  GRAPHMILL_TRY(const auto there, reader_.next());
  if (there && trimmed_fields(reader_) == layout_->names)
    return ok();
  if (next_file_ == 0)
    return reader_.wrong("the table changed while it was read");
  return reader_.wrong(fmt::format(
    "the header is not that of {}, which it is to be read with as one table",
    table_->file.string()));
}

result<bool> csv_rows::next() {
  for (;;) {
    const auto there = reader_.next();
    if (!there && !reader_.goes_on())
      return there.error();
    if (there && !there.value()) {
      if (next_file_ == table_->more.size())
        return false;
      comments_ += reader_.comments();
      GRAPHMILL_TRY(reader_, csv_reader::open(table_->more[next_file_++],
                                              separator_, table_->comments));
      GRAPHMILL_TRYV(begin_file());
      continue;
    }
    if (is_left_out())
      continue;
    if (there && std::exchange(at_begin_, false) && is_other_header())
      return reader_.wrong(fmt::format(
        "this is a header, and {} has none: give all files of a table one, or "
        "none of them",
        table_->file.string()));
    const auto fault = there ? shape_fault() : there.error();
    if (!fault)
      return true;
    GRAPHMILL_TRYV(reject({}, *fault));
  }
}

void csv_rows::tell_comments(const note_callback& on_note) const {
  const auto count = comments_ + reader_.comments();
  if (count > 0)
    tell_note(on_note, "{}: {} skipped ({})", table_->file.filename().string(),
              pluralized(count, "comment line"), reader_.comment_mark());
}

bool csv_rows::is_left_out() const {
  const auto line = static_cast<std::size_t>(reader_.line());
  return line < left_out_->size() && (*left_out_)[line];
}

/// Whether the first row of a further edge list has the usual names, though the
/// first list has no header.
bool csv_rows::is_other_header() const {
  const auto& fields = reader_.fields();
  const auto is_called = [&](std::optional<std::size_t> column, csv_role role) {
    return column && *column < fields.size()
           && edge_role_of(fields[*column]) == role;
  };
  return next_file_ > 0 && !layout_->header
         && is_called(layout_->source, csv_role::source)
         && is_called(layout_->destination, csv_role::destination);
}

/// What is wrong with the fields of the row as a whole.
std::optional<error> csv_rows::shape_fault() const {
  const auto& layout = *layout_;
  const auto fields = reader_.fields().size();
  // Tables that were put together bring theirs along.
  if (layout.header && fields == layout.count()
      && trim_blanks(reader_.fields().front()) == layout.names.front()
      && trimmed_fields(reader_) == layout.names)
    return reader_.wrong("this row repeats the header: take it out");
  if (fields == layout.count())
    return std::nullopt;
  if (layout.source && fields == 1)
    return reader_.wrong(one_csv_field);
  return reader_.wrong(fmt::format("{} fields; {} expected, as in the {}",
                                   fields, layout.count(),
                                   layout.header ? "header" : "first row"));
}

result<void> csv_rows::reject(std::optional<std::size_t> column,
                              const error& wrong) {
  if (!column)
    return errors_->add(reader_, {}, wrong);
  auto text = fmt::format("column {}", *column + 1);
  if (layout_->header && !layout_->names[*column].empty())
    text += fmt::format(", \"{}\"", layout_->names[*column]);
  return errors_->add(reader_, text, wrong);
}

} // namespace graphmill
