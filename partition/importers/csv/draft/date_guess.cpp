#include "partition/importers/csv/draft/date_guess.hpp"

#include "partition/importers/columns/fields/date_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace graphmill {

namespace {

/// How many digits the text begins with.
std::size_t digits_before(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

/// The pattern of a time behind a date; empty: there is none, or another text.
std::string_view time_pattern(std::string_view rest) {
  const auto colons = std::ranges::count(rest, ':');
  if (colons == 1)
    return " %H:%M";
  return colons == 2 ? " %H:%M:%S" : "";
}

} // namespace

void date_guess::add(std::string_view field) {
  const auto first = digits_before(field);
  if (first == 0 || first == field.size())
    return;
  const auto mark = field[first];
  const auto second = field.find(mark, first + 1);
  if (std::string_view{"./-"}.find(mark) == std::string_view::npos
      || second == field.npos)
    return;
  const auto last = field.substr(second + 1);
  const auto digits = digits_before(last);
  const auto time = time_pattern(last.substr(digits));
  constexpr std::size_t full_year = 4;
  const auto* const year =
    first == full_year || digits == full_year ? "%Y" : "%y";
  const auto try_order = [&](std::string_view one, std::string_view two,
                             std::string_view three) {
    auto pattern =
      fmt::format("{}{}{}{}{}{}", one, mark, two, mark, three, time);
    if (read_moment(field, pattern))
      ++read_[std::move(pattern)];
  };
  if (digits != full_year)
    try_order(year, "%m", "%d");
  if (first != full_year) {
    try_order("%d", "%m", year);
    try_order("%m", "%d", year);
  }
}

std::vector<std::string> date_guess::patterns(std::int64_t fields) const {
  std::vector<std::string> out;
  for (const auto& [pattern, count] : read_)
    if (count == fields)
      out.push_back(pattern);
  return out;
}

} // namespace graphmill
