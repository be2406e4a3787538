#include "partition/importers/exact_number.hpp"

#include "messages/words/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>

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

result<std::string> with_decimal_point(std::string_view text) {
  if (text.find('.') != text.npos)
    return fail(ec::invalid_data,
                "\"{}\" has a point, and `decimal: comma` says that a comma "
                "stands before the fraction",
                text);
  std::string out{text};
  std::ranges::replace(out, ',', '.');
  return out;
}

} // namespace graphmill
