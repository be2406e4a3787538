#pragma once

#include "messages/base/error.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace graphmill {

/// The number in a field, rounded to float32: what is too small for it is 0,
/// and what is too large is infinite. Nothing if it is no number.
std::optional<float> float_in(std::string_view text);

/// Whether float32 would make another number of an integer. Importers refuse
/// such integers where they are to be stored as they are: a number that was
/// written in full is not changed in silence.
bool is_rounded_integer(std::int64_t integer);

/// The same of a text: digits, with or without a minus sign before them.
/// Numbers with a point or an exponent are none.
bool is_rounded_integer(std::string_view text);

/// What float32 would make of such an integer, for an error.
std::string rounded_integer_text(std::string_view integer);

/// The text of a number with a point in the place of its decimal comma. Fails
/// if it has a point, which may separate thousands.
result<std::string> with_decimal_point(std::string_view text);

/// Whether marks may separate the thousands of a number: 1,234 or 1,234,567.89.
/// @param point What stands before the fraction.
bool has_thousands(std::string_view text, char mark = ',', char point = '.');

/// How a decimal comma is asked for, unless a columns file says it.
inline constexpr std::string_view decimal_flag = "--decimal comma";

/// What an error says behind a text that is no number, such as "; take the plus
/// sign out". Empty: nothing that helps is known.
/// @param decimal How a decimal comma is asked for. Empty: commas are read as
/// such.
std::string number_hint(std::string_view text,
                        std::string_view decimal = decimal_flag);

} // namespace graphmill
