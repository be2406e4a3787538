#pragma once

#include "messages/base/error.hpp"
#include "partition/importers/csv/csv.hpp"
#include "partition/importers/csv/csv_layout.hpp"
#include "partition/importers/csv/row_errors.hpp"
#include "partition/importers/csv/rows_of_lines.hpp"
#include "partition/importers/csv/text/csv_reader.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace graphmill {

/// Reads the rows of a table, file after file, without their headers. Leaves
/// out rows that were rejected before, and rejects those that do not have as
/// many fields as the layout. Refers to the table, the layout and the errors.
/// Move-only; not thread-safe.
class csv_rows {
public:
  /// Fails if a header is not that of the layout.
  static result<csv_rows> open(const csv_table& table, const csv_layout& layout,
                               char separator, row_errors& errors);

  /// Goes to the next row. Fails on what cannot be read, on what
  /// `row_errors::add` returns, and when reading is stopped.
  /// @returns false behind the last row.
  result<bool> next();

  /// The fields of the row, as many as the layout has. Valid until `next`.
  const std::vector<std::string_view>& fields() const {
    return reader_.fields();
  }

  /// For errors about the row.
  const csv_reader& reader() const { return reader_; }

  /// Whether the row was not rejected.
  bool is_sound() const { return is_sound_; }

  /// The place of the row's file among those of the table.
  std::size_t file() const { return next_file_; }

  /// Says how many lines of all files were comments, if any, and which rows
  /// may be several ones.
  void tell_notes(const note_callback& on_note) const;

  /// Rejects the row. The caller may go on with its other cells.
  /// @param column Nothing: the whole row is wrong.
  result<void> reject(std::optional<std::size_t> column, const error& wrong);

  /// Rejects the row with a sentence about it.
  result<void> reject(std::optional<std::size_t> column,
                      std::string_view sentence) {
    return reject(column, reader_.wrong(sentence));
  }

  /// Rejects the row if reading a cell has failed.
  template <class T>
  result<void> check(std::size_t column, const result<T>& read) {
    if (read)
      return ok();
    return reject(column, read.error());
  }

private:
  csv_rows(const csv_table& table, const csv_layout& layout, char separator,
           row_errors& errors, csv_reader reader)
    : table_(&table), layout_(&layout), separator_(separator), errors_(&errors),
      reader_(std::move(reader)) {}

  result<void> begin_file();
  bool is_left_out() const;
  std::optional<error> cut_lines();
  bool repeats_header() const;
  std::optional<error> shape_fault() const;

  const csv_table* table_;
  const csv_layout* layout_;
  char separator_;
  row_errors* errors_;
  csv_reader reader_;
  std::size_t next_file_ = 0; ///< Among `more` of the table.
  bool is_sound_ = true;      ///< The row was not rejected.
  std::int64_t comments_ = 0; ///< Of the files before.
  std::int64_t rows_ = 0;     ///< So far.
  rows_of_lines of_lines_;
  left_out_lines* left_out_ = nullptr; ///< Of the file that is read.
};

} // namespace graphmill
