#include "partition/importers/csv/text/csv_separator.hpp"

#include "messages/base/printable.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace graphmill {

namespace {

constexpr std::size_t most_rows_tried = 100;
/// One of so many rows may have another number of fields: it may be damaged.
constexpr std::size_t uneven_share = 10;
constexpr std::size_t most_text_shown = 60;

constexpr auto candidates = std::to_array<char>({'\t', ',', ';', ' '});

bool is_candidate(char c) {
  return std::ranges::find(candidates, c) != candidates.end();
}

/// The first rows of a table, as text.
std::vector<std::string_view> rows_in(std::string_view text, bool whole,
                                      char comments) {
  std::vector<std::string_view> rows;
  while (!text.empty() && rows.size() < most_rows_tried) {
    // A line break within quotes ends no row.
    auto quoted = false;
    std::size_t end = 0;
    for (; end < text.size() && (quoted || text[end] != '\n'); ++end)
      if (text[end] == '"'
          && (quoted || end == 0 || is_candidate(text[end - 1])))
        quoted = !quoted;
    if (end == text.size() && !whole && !rows.empty())
      break;
    auto row = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (row.ends_with('\r'))
      row.remove_suffix(1);
    const auto blank = row.find_first_not_of(" \t") == row.npos;
    if (!blank && (comments == '\0' || row.front() != comments))
      rows.push_back(row);
  }
  return rows;
}

/// How many fields a separator cuts a row into.
std::size_t fields_in(std::string_view row, char separator) {
  const auto blanks = separator == ' ';
  const auto separates = [&](char c) {
    return c == separator || (blanks && c == '\t');
  };
  if (blanks) { // Any run of them separates, and none at the ends does.
    const auto begin = row.find_first_not_of(" \t");
    row = row.substr(begin, row.find_last_not_of(" \t") - begin + 1);
  }
  std::size_t fields = 1;
  auto quotes = false; // Whether the field began with a quote.
  auto quoted = false;
  auto begins = true;
  for (std::size_t i = 0; i < row.size(); ++i) {
    quotes = row[i] == '"' && begins ? true : quotes && !begins;
    if (row[i] == '"' && quotes)
      quoted = !quoted;
    const auto ends = !quoted && separates(row[i]);
    // Blanks may stand before a quote.
    begins = ends || (begins && (row[i] == ' ' || row[i] == '\t'));
    fields += ends && !(blanks && separates(row[i - 1])) ? 1 : 0;
  }
  return fields;
}

/// Whether a separator cuts rows into as many fields each, and into two at
/// least.
bool cuts(const std::vector<std::string_view>& rows, char separator) {
  const auto fields = fields_in(rows.front(), separator);
  std::size_t uneven = 0;
  for (const auto row : rows)
    uneven += fields_in(row, separator) != fields ? 1 : 0;
  return fields > 1 && uneven <= rows.size() / uneven_share;
}

/// Whether a text is digits, a comma and digits, as a decimal number may be.
bool is_decimal(std::string_view text) {
  const auto comma = text.find(',');
  const auto are_digits = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
  };
  if (text.starts_with('-') || text.starts_with('+'))
    return is_decimal(text.substr(1));
  return comma != text.npos && are_digits(text.substr(0, comma))
         && are_digits(text.substr(comma + 1));
}

/// Whether commas stand in numbers alone, between blanks.
bool commas_look_decimal(const std::vector<std::string_view>& rows) {
  for (auto row : rows)
    while (!row.empty()) {
      const auto end = std::min(row.find_first_of(" \t"), row.size());
      const auto field = row.substr(0, end);
      if (field.find(',') != field.npos && !is_decimal(field))
        return false;
      row.remove_prefix(std::min(row.size(), end + 1));
    }
  return true;
}

} // namespace

result<char> find_separator(std::string_view text, bool whole, char comments,
                            std::string_view file) {
  const auto rows = rows_in(text, whole, comments);
  if (rows.empty())
    return ',';
  const auto unclear = [&](std::string_view others) {
    return fail(
      ec::invalid_argument,
      "{}: its columns may be separated by commas or by {} ({}): say "
      "which, with --separator",
      file, others,
      shortened(printable(std::string{rows.front()}), most_text_shown));
  };
  if (cuts(rows, '\t'))
    return '\t';
  const auto commas = cuts(rows, ',');
  if (cuts(rows, ';')) {
    if (commas)
      return unclear("semicolons (--separator ';')");
    return ';';
  }
  if (commas && cuts(rows, ' ') && commas_look_decimal(rows))
    return unclear("blanks (--separator ' ')");
  if (commas)
    return ',';
  if (cuts(rows, ' '))
    return ' ';
  // Rows are uneven, and the first one that is says so.
  for (const auto candidate : candidates)
    if (fields_in(rows.front(), candidate) > 1)
      return candidate;
  return ',';
}

} // namespace graphmill
