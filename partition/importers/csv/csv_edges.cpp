#include "partition/importers/csv/csv_edges.hpp"

#include "partition/importers/csv/csv_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace graphmill {

namespace {

bool is_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto* end = text.data() + text.size();
  return std::from_chars(text.data(), end, value).ptr == end && !text.empty();
}

using two_ids = std::array<std::string, 2>;

/// Whether a first row is a header, going by it and the one behind it: it is
/// one if both fields are usual names for the ends of an edge, or if both are
/// no numbers and those below them are.
bool looks_like_header(const two_ids& first, const two_ids& second) {
  constexpr std::array<std::string_view, 12> words{
    "source", "src", "from", "destination", "dst", "dest",
    "target", "to",  "head", "tail",        "u",   "v"};
  auto all_words = true;
  auto words_above_numbers = true;
  for (std::size_t i = 0; i < 2; ++i) {
    auto lower = first[i];
    std::ranges::transform(lower, lower.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    all_words = all_words && std::ranges::find(words, lower) != words.end();
    words_above_numbers =
      words_above_numbers && !is_integer(first[i]) && is_integer(second[i]);
  }
  return all_words || words_above_numbers;
}

two_ids ends_of(const csv_reader& rows) {
  return {std::string{trim_blanks(rows.fields()[0])},
          std::string{trim_blanks(rows.fields()[1])}};
}

} // namespace

result<void> for_each_csv_edge(const csv_table& table,
                               const csv_import_options& options,
                               const edge_visitor& visit) {
  GRAPHMILL_TRY(auto rows, csv_reader::open(table.file, options.separator));
  const auto next = [&]() -> result<bool> {
    GRAPHMILL_TRY(const auto there, rows.next());
    if (there && rows.fields().size() < 2)
      return rows.wrong("one field; a source and a destination expected (give "
                        "the separator if it is an unusual one)");
    return there;
  };
  GRAPHMILL_TRY(auto there, next());
  if (!there)
    return ok();
  // The first row waits until the second one has shown what it is.
  const auto first = ends_of(rows);
  const auto first_line = rows.line();
  GRAPHMILL_TRY(there, next());
  two_ids second;
  if (there)
    second = ends_of(rows);
  const auto header =
    options.edge_header.value_or(looks_like_header(first, second));
  if (!header) {
    GRAPHMILL_TRYV(visit(first_line, first[0], first[1]));
  }
  while (there) {
    GRAPHMILL_TRYV(visit(rows.line(), trim_blanks(rows.fields()[0]),
                         trim_blanks(rows.fields()[1])));
    GRAPHMILL_TRY(there, next());
  }
  return ok();
}

} // namespace graphmill
