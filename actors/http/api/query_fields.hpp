#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// The value of the first field of a query with this name, as it stands there;
/// nothing if there is none.
std::optional<std::string_view> field_in(std::string_view query,
                                         std::string_view name);

/// Without the encoding of addresses: "%20" is a space. Nothing if a % is
/// without its two digits.
std::optional<std::string> decoded(std::string_view text);

/// A whole number in decimal digits; nothing if it is none, or too large.
std::optional<std::uint64_t> decimal_in(std::string_view text);

/// That of a field; 0 if there is no such field.
std::optional<std::uint64_t> number_in(std::string_view query,
                                       std::string_view name);

} // namespace graphmill
