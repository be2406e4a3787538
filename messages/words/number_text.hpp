#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace graphmill {

/// The number that a text is. The whole text must be the number, without blanks
/// or a plus sign, and within the type's range; otherwise nothing. Reads as
/// std::from_chars does, in any locale: floating-point types also accept "inf"
/// and "nan".
template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number out{};
  const auto* end = text.data() + text.size();
  const auto [last, failed] = std::from_chars(text.data(), end, out);
  return failed == std::errc{} && last == end ? std::optional{out}
                                              : std::nullopt;
}

} // namespace graphmill
