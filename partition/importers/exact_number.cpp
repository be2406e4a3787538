#include "partition/importers/exact_number.hpp"

#include "messages/words/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace graphmill {

std::optional<float> float_in(std::string_view text) {
  if (const auto value = number_from<float>(text))
    return value;
  const auto wide = number_from<double>(text);
  return wide ? std::optional{static_cast<float>(*wide)} : std::nullopt;
}

bool is_rounded_integer(std::int64_t integer) {
  constexpr auto all_exact = std::int64_t{1} << 24;
  if (integer >= -all_exact && integer <= all_exact)
    return false;
  // 2^63, to which the largest are rounded, is beyond int64.
  const auto narrow = static_cast<float>(integer);
  return narrow == 0x1p63f || static_cast<std::int64_t>(narrow) != integer;
}

bool is_rounded_integer(std::string_view text) {
  constexpr std::size_t always_exact = 7; // Digits.
  if (text.size() <= always_exact)
    return false;
  const auto digits = text.substr(text.front() == '-' ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos)
    return false;
  const auto integer = number_from<std::int64_t>(text);
  return !integer || is_rounded_integer(*integer);
}

std::string rounded_integer_text(std::string_view integer) {
  return fmt::format("{}, which float32 would round to {:.0f}", integer,
                     float_in(integer).value_or(0));
}

bool has_thousands(std::string_view text, char mark, char point) {
  const auto are_digits = [](std::string_view part) {
    return !part.empty() && part.find_first_not_of("0123456789") == part.npos;
  };
  if (text.starts_with('-'))
    text.remove_prefix(1);
  const auto fraction = text.find(point);
  if (fraction != text.npos && !are_digits(text.substr(fraction + 1)))
    return false;
  text = text.substr(0, fraction);
  constexpr std::size_t group = 3;
  auto at = text.find(mark);
  if (at == text.npos || at > group || !are_digits(text.substr(0, at))
      || text.front() == '0')
    return false;
  for (; at != text.npos; at = text.find(mark)) {
    text.remove_prefix(at + 1);
    if (const auto digits = text.substr(0, text.find(mark));
        digits.size() != group || !are_digits(digits))
      return false;
  }
  return true;
}

namespace {

/// Whether a currency or unit stands beside a number: "$5", "50.00 EUR", "7 %".
bool has_unit(std::string_view text) {
  constexpr std::string_view digits = "0123456789";
  const auto first = text.find_first_of("-0123456789");
  const auto last = text.find_last_of(digits);
  if (first == text.npos || last == text.npos || last < first)
    return false;
  const auto is_unit = [](std::string_view beside, bool apart) {
    constexpr auto signs = std::to_array<std::string_view>(
      {"\xe2\x82\xac", "$", "\xc2\xa3", "\xc2\xa5", "%"}); // Euro, pound, yen
    constexpr std::size_t code = 3; // Letters, as in EUR.
    return std::ranges::find(signs, beside) != signs.end()
           || (apart && beside.size() == code
               && std::ranges::all_of(
                 beside, [](char c) { return c >= 'A' && c <= 'Z'; }));
  };
  const auto before = text.substr(0, first);
  const auto behind = text.substr(last + 1);
  if (before.empty() == behind.empty())
    return false;
  auto beside = before.empty() ? behind : before;
  const auto apart =
    before.empty() ? beside.front() == ' ' : beside.back() == ' ';
  beside.remove_prefix(std::min(beside.find_first_not_of(' '), beside.size()));
  beside = beside.substr(0, beside.find_last_not_of(' ') + 1);
  return is_unit(beside, apart);
}

} // namespace

std::string number_hint(std::string_view text, std::string_view decimal) {
  if (text.starts_with('+') && number_from<double>(text.substr(1)))
    return "; take the plus sign out";
  if (has_unit(text))
    return "; take the currency or unit out";
  for (const auto mark : {'_', '\'', ' '})
    if (has_thousands(text, mark))
      return "; take out what separates thousands";
  const auto commas = std::ranges::count(text, ',');
  const auto grouped = has_thousands(text);
  if (grouped && (commas > 1 || text.find('.') != text.npos))
    return "; take the commas between thousands out";
  if (commas == 0 || decimal.empty())
    return "";
  return fmt::format("; if a comma stands before the fraction, say {}{}",
                     decimal,
                     grouped ? "; if it separates thousands, take it out" : "");
}

result<std::string> with_decimal_point(std::string_view text) {
  if (text.find('.') != text.npos)
    return fail(ec::invalid_data,
                "\"{}\" has a point, and `decimal: comma` says that a comma "
                "stands before the fraction{}",
                text,
                has_thousands(text, '.', ',')
                  ? "; take the points between thousands out"
                  : "");
  std::string out{text};
  std::ranges::replace(out, ',', '.');
  return out;
}

} // namespace graphmill
