#include "partition/importers/csv/csv_header.hpp"

#include "messages/words/number_text.hpp"
#include "partition/importers/csv/csv_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace graphmill {

namespace {

using text_row = std::vector<std::string>;

bool is_integer(const std::string& text) {
  return number_from<std::int64_t>(text).has_value();
}

bool is_number(const std::string& text) {
  return number_from<double>(text).has_value();
}

/// Whether a text above numbers can be nothing but a name.
bool is_word(const std::string& text) {
  constexpr auto nothing =
    std::to_array<std::string_view>({"nan", "none", "null", "na", "n/a"});
  return std::ranges::any_of(text,
                             [](char c) {
                               return (c >= 'a' && c <= 'z')
                                      || (c >= 'A' && c <= 'Z');
                             })
         && std::ranges::find(nothing, lower_name(text)) == nothing.end();
}

/// Whether names of columns have one that the user gave.
bool has_chosen(const text_row& first, const header_hints& hints) {
  return std::ranges::any_of(hints.chosen, [&first](const std::string& name) {
    return std::ranges::any_of(first, [&name](const std::string& field) {
      return lower_name(field) == lower_name(name);
    });
  });
}

/// Whether a field is the usual name of an end, or is called like its type.
bool has_end(const text_row& first, csv_role role, const std::string& type) {
  return std::ranges::any_of(first, [&](const std::string& name) {
    return edge_role_of(name) == role
           || (!type.empty() && names_type(name, type));
  });
}

/// Whether both ends have such names, or the first columns those of ids.
bool has_names(const text_row& first, const header_hints& hints) {
  return (has_end(first, csv_role::source, hints.source_type)
          && has_end(first, csv_role::destination, hints.destination_type))
         || (is_name_of_ids(first[0]) && is_name_of_ids(first[1]));
}

/// Whether an end of the first row is one of another row, too.
bool recurs(const std::vector<text_row>& rows) {
  const auto& first = rows.front();
  return std::any_of(rows.begin() + 1, rows.end(), [&first](const auto& row) {
    // A row that is the same may be the header again, of joined tables.
    return row.size() >= 2 && !std::ranges::equal(row, first, repeats_name)
           && (row[0] == first[0] || row[0] == first[1] || row[1] == first[0]
               || row[1] == first[1]);
  });
}

/// The numbers of columns that pandas gives to those without names.
bool are_numbered(const text_row& first) {
  for (std::size_t i = 0; i < first.size(); ++i)
    if (first[i] != std::to_string(i))
      return false;
  return true;
}

/// Whether all rows below the first have numbers in a column.
bool has_numbers_below(const std::vector<text_row>& rows, std::size_t column) {
  return rows.size() > 1
         && std::all_of(rows.begin() + 1, rows.end(),
                        [column](const text_row& row) {
                          return column < row.size() && is_number(row[column]);
                        });
}

bool has_integer_ends_below(const std::vector<text_row>& rows) {
  return rows.size() > 1
         && std::all_of(rows.begin() + 1, rows.end(), [](const text_row& row) {
              return row.size() >= 2 && is_integer(row[0])
                     && is_integer(row[1]);
            });
}

/// Whether all rows below the first have a node as an end.
bool has_nodes_below(const std::vector<text_row>& rows,
                     const header_hints& hints) {
  return rows.size() > 1 && hints.is_node
         && std::all_of(rows.begin() + 1, rows.end(), [&](const text_row& row) {
              return row.size() >= 2
                     && (hints.is_node(row[0]) || hints.is_node(row[1]));
            });
}

} // namespace

bool is_above_numbers(const std::vector<std::vector<std::string>>& rows) {
  for (std::size_t i = 0; i < rows.front().size(); ++i)
    if (is_word(rows.front()[i]) && !is_number(rows.front()[i])
        && has_numbers_below(rows, i))
      return true;
  return false;
}

first_row guess_first_row(const std::vector<std::vector<std::string>>& rows,
                          const header_hints& hints) {
  const auto& first = rows.front();
  if (has_chosen(first, hints))
    return first_row::header;
  if (first.size() < 2)
    return first_row::unclear;
  if (is_integer(first[0]) && is_integer(first[1]))
    return are_numbered(first) && rows.size() > 1
               && !has_integer_ends_below(rows)
             ? first_row::unclear
             : first_row::edge;
  const auto is_edge =
    recurs(rows)
    || (hints.is_node && (hints.is_node(first[0]) || hints.is_node(first[1])));
  if (has_names(first, hints))
    return is_edge ? first_row::unclear : first_row::header;
  if (is_edge || is_integer(first[0]) || is_integer(first[1]))
    return first_row::edge;
  auto named_number = false;
  for (std::size_t i = 2; i < first.size(); ++i) {
    if (!has_numbers_below(rows, i))
      continue;
    if (is_number(first[i]))
      return first_row::edge;
    named_number = named_number || is_word(first[i]);
  }
  return named_number || has_integer_ends_below(rows)
             || has_nodes_below(rows, hints)
           ? first_row::header
           : first_row::unclear;
}

} // namespace graphmill
