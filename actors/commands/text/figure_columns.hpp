#pragma once

#include "pipelines/figures/figure.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// "1.5", of a figure's unit in tables; "-" if there is no number. Large
/// numbers get an exponent, so that none is cut off.
std::string figure_text(figure_unit unit, figure_value value);

/// "mem MB", "busy%"
std::string column_title(std::string_view column, figure_unit unit);

/// Cells of the widest usual text, or of the title.
std::size_t column_width(std::string_view column, figure_unit unit);

/// "mem 212.4 MB": a figure in a list.
std::string listed_text(std::string_view column, figure_unit unit,
                        double value);

/// Calls `then` with each row of the table that `room` has a column for.
template <class T, std::size_t Rows>
void for_each_column(const figure<T> (&table)[Rows], column_room room,
                     auto then) {
  for (const auto& row : table)
    if (!row.column.empty() && row.room <= room)
      then(row);
}

/// The titles of the columns, aligned to the right, each behind a blank.
template <class T, std::size_t Rows>
std::string column_titles(const figure<T> (&table)[Rows], column_room room) {
  std::string out;
  for_each_column(table, room, [&out](const auto& row) {
    out += fmt::format(" {:>{}}", column_title(row.column, row.unit),
                       column_width(row.column, row.unit));
  });
  return out;
}

/// The values below these titles. @param of Null: nothing is known.
template <class T, std::size_t Rows>
std::string column_values(const figure<T> (&table)[Rows], column_room room,
                          const T* of) {
  std::string out;
  for_each_column(table, room, [&out, of](const auto& row) {
    out += fmt::format(
      " {:>{}}", figure_text(row.unit, of ? row.value(*of) : std::nullopt),
      column_width(row.column, row.unit));
  });
  return out;
}

/// "cpus 1.5, answers 1.0 MB of 64.0 MB": what is known of the columns. A
/// limit, of the column "of", stands behind what it limits.
template <class T, std::size_t Rows>
std::string column_list(const figure<T> (&table)[Rows], const T& of) {
  std::string out;
  for_each_column(table, column_room::list, [&out, &of](const auto& row) {
    if (const auto value = row.value(of))
      out += (out.empty()          ? ""
              : row.column == "of" ? " "
                                   : ", ")
             + listed_text(row.column, row.unit, *value);
  });
  return out;
}

} // namespace graphmill
