#include "partition/importers/csv/csv_rows.hpp"

#include "messages/base/pluralized.hpp"
#include "partition/importers/csv/csv_names.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace graphmill {

namespace {

/// So many separators, in lines like rows, are none of a text.
constexpr std::int64_t least_separators = 20;
constexpr std::int64_t least_lines_like_rows = 3;

} // namespace

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
  GRAPHMILL_TRY(left_out_, errors_->left_out(*table_, reader_.path()));
  if (!layout_->header)
    return ok();
  GRAPHMILL_TRY(const auto there, reader_.next());
  if (there && trimmed_fields(reader_) == layout_->names)
    return ok();
  if (next_file_ == 0)
    return reader_.wrong(changed_csv_table);
  if (!there)
    return reader_.wrong("the file is empty: leave it out");
  return reader_.wrong(fmt::format(
    "the header is not that of {}, which it is to be read with as one table",
    table_->file.string()));
}

result<bool> csv_rows::next() {
  for (;;) {
    if (errors_->is_stopped())
      return fail(ec::cancelled, "stopped on request while {} was read",
                  reader_.path().string());
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
    is_sound_ = true;
    auto fault = there ? cut_lines() : there.error();
    if (is_left_out())
      continue;
    if (!fault)
      fault = shape_fault();
    if (!fault) {
      ++rows_;
      return true;
    }
    GRAPHMILL_TRYV(reject({}, *fault));
  }
}

void csv_rows::tell_notes(const note_callback& on_note) const {
  of_lines_.tell(*table_, rows_, on_note);
  const auto count = comments_ + reader_.comments();
  if (count > 0)
    tell_note(on_note, "{}: {} skipped ({})", table_->file.filename().string(),
              pluralized(count, "comment line"), reader_.comment_mark());
}

bool csv_rows::is_left_out() const {
  const auto line = static_cast<std::size_t>(reader_.line());
  return line < left_out_->lines.size() && left_out_->lines[line];
}

/// Cuts a row whose inner lines are rows themselves to its first line: a quote
/// opens there that is closed by one of another row. Counts other rows of
/// several lines.
/// @returns what is wrong with a row that was cut.
std::optional<error> csv_rows::cut_lines() {
  if (reader_.lines() < 2)
    return std::nullopt;
  const auto lines = reader_.separators_by_line();
  const auto separators = static_cast<std::int64_t>(layout_->count()) - 1;
  const auto between = std::ssize(lines) - 2;
  const auto alike = std::count(lines.begin() + 1, lines.end() - 1, separators);
  if (alike >= least_lines_like_rows && alike * separators >= least_separators
      && alike * 10 >= between * 9) {
    reader_.cut_to_first_line();
    return reader_.wrong(fmt::format(
      "a quoted field goes on for {} lines that look like rows: close it on "
      "this line, or double the quote if it is part of the text",
      between + 1));
  }
  if (!is_left_out())
    of_lines_.add(reader_, lines);
  return std::nullopt;
}

/// Whether the row has the names of the header.
bool csv_rows::repeats_header() const {
  const auto& fields = reader_.fields();
  const auto& names = layout_->names;
  if (!layout_->header || fields.size() != names.size()
      || fields.front().size() < names.front().size()) // As most ids are.
    return false;
  return std::ranges::equal(fields, names, repeats_name);
}

/// What is wrong with the fields of the row as a whole.
std::optional<error> csv_rows::shape_fault() const {
  const auto& layout = *layout_;
  const auto fields = reader_.fields().size();
  // Tables that were put together bring theirs along.
  if (repeats_header())
    return reader_.wrong("this row repeats the header: take it out");
  if (reader_.fields().front().starts_with(byte_order_mark))
    return reader_.wrong("a byte order mark (U+FEFF) stands before this row: "
                         "take it out");
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
  is_sound_ = false;
  if (!column)
    return errors_->add(reader_, *left_out_, {}, wrong);
  auto text = fmt::format("column {}", *column + 1);
  if (layout_->header && !layout_->names[*column].empty())
    text += fmt::format(", \"{}\"", layout_->names[*column]);
  return errors_->add(reader_, *left_out_, text, wrong);
}

} // namespace graphmill
