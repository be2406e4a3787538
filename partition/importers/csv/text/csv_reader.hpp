#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace graphmill {

/// The text without the spaces and tabs around it.
std::string_view trim_blanks(std::string_view text);

/// A field in quotes, as a table has it (RFC 4180).
std::string quoted_csv_field(std::string_view text);

/// Reads the rows of a text table one by one, in bounded memory: RFC 4180 with
/// any separator, gzip and Zstandard unpacked on the way. Empty lines are
/// skipped, and so are comments: lines that begin with a character, not quoted.
/// A space as separator stands for any run of spaces and tabs. Owns the file.
/// Not thread-safe.
class csv_reader {
public:
  /// @param separator What separates fields; '\0': `find_separator`.
  /// @param comments What comments begin with; '\0': '#' in a list of SNAP, '%'
  /// in one of KONECT, else there are none.
  /// Fails on what begins like another kind of file: Parquet, Matrix Market,
  /// UTF-16 or UTF-32, or bytes that are no text.
  static result<csv_reader> open(const std::filesystem::path& path,
                                 char separator, char comments = '\0');
  csv_reader(csv_reader&&) noexcept;
  csv_reader& operator=(csv_reader&&) noexcept;
  ~csv_reader();

  /// Goes to the next row. Fails, and names file and line, on a quoted field
  /// that does not end, on text behind its closing quote, on a row of more than
  /// 16 MiB, on a byte that is not UTF-8, and on what cannot be read or
  /// unpacked. After an error of quotes the next row begins on the next line:
  /// the lines behind a stray quote are rows.
  /// @returns false behind the last row.
  result<bool> next();

  /// After an error of `next`: whether that was about one row alone, so that
  /// another call goes on behind it.
  bool goes_on() const;

  /// The fields of the row, at least one. Valid until `next`.
  const std::vector<std::string_view>& fields() const;

  /// How many comments have been skipped, and what they begin with.
  std::int64_t comments() const;
  char comment_mark() const;

  /// Where the row begins, from 1.
  std::int64_t line() const;

  /// How many lines the row covers.
  std::int64_t lines() const;

  /// How many separators each of these lines has, also within quotes. A run of
  /// blanks counts as many.
  std::vector<std::int64_t> separators_by_line() const;

  /// Takes the first line of the row for all of it, so that the next row begins
  /// on the second line. The fields are no longer valid.
  void cut_to_first_line();

  const std::filesystem::path& path() const;

  /// The bytes of the row, without the end of its last line; of one that could
  /// not be read, as far as it was, and no more than 64 MiB.
  std::string row_text() const;

  /// "file:line: sentence" about the row.
  error wrong(std::string_view sentence) const;

private:
  csv_reader();
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace graphmill
