#include "partition/importers/csv/rows_of_lines.hpp"

#include "messages/base/pluralized.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace graphmill {

namespace {

constexpr std::int64_t most_lines_untold = 20;
/// So few rows are told though none of them looks like several: if they are no
/// more, or no larger share of all rows, no text of the table is written so.
constexpr std::int64_t most_exceptions = 3;
constexpr std::int64_t rows_of_an_exception = 100;

} // namespace

void rows_of_lines::add(const csv_reader& rows,
                        std::span<const std::int64_t> separators) {
  const auto place =
    fmt::format("{}:{}", rows.path().filename().string(), rows.line());
  const auto lines = std::ssize(separators);
  if (lines > most_lines_untold) {
    ++long_;
    if (lines > longest_lines_) {
      longest_lines_ = lines;
      longest_row_ = place;
    }
  }
  const auto of_row = std::ssize(rows.fields()) - 1;
  if (std::accumulate(separators.begin(), separators.end(), std::int64_t{0})
      <= of_row)
    return;
  const auto merged = std::ranges::all_of(
    separators, [of_row](std::int64_t of_line) { return of_line == of_row; });
  ++separated_;
  merged_ += merged ? 1 : 0;
  if (separated_ == 1 || (merged && merged_ == 1))
    first_separated_ = place;
}

void rows_of_lines::tell(const csv_table& table, std::int64_t all,
                         const note_callback& on_note) const {
  const auto name = table.file.filename().string();
  if (long_ > 0)
    tell_note(on_note,
              "{}: {} of more than {} lines; the longest covers {} lines: {}; "
              "if it is to be shorter, a quote is missing or too many",
              name, pluralized(long_, "row"), most_lines_untold, longest_lines_,
              longest_row_);
  const auto rare =
    separated_ <= most_exceptions || separated_ * rows_of_an_exception <= all;
  if (separated_ > 0 && (merged_ > 0 || rare))
    tell_note(on_note,
              "{}: {} with separators in a field of several lines{}, such as "
              "{}; if its lines are rows, a quote is missing or too many",
              name, pluralized(separated_, "row"),
              merged_ > 0 ? ", each of which could be a row" : "",
              first_separated_);
}

} // namespace graphmill
