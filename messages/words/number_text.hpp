#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace graphmill {

/// The number that a text is: all of it, without blanks or a plus sign around
/// it, and within what the type holds. Nothing of anything else. Reads as
/// std::from_chars does, whatever the locale: of a type with a point, "inf" and
/// "nan", too.
template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number out{};
  const auto* end = text.data() + text.size();
  const auto [last, failed] = std::from_chars(text.data(), end, out);
  return failed == std::errc{} && last == end ? std::optional{out}
                                              : std::nullopt;
}

} // namespace graphmill
