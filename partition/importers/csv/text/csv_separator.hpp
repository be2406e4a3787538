#pragma once

#include "messages/base/error.hpp"

#include <string_view>

namespace graphmill {

/// What separates the fields of a table: tab, comma, ';' or space, whichever
/// cuts its first rows into the same number of fields, at least two. Tab goes
/// before the others, and space after them. Fails if two of them do so and
/// either may be meant: comma and ';', or comma and space where commas
/// may be decimal ones. A comma if the first row has none of them.
/// @param text What the table begins with.
/// @param whole Whether that is all of it; else its last line may be cut off.
/// @param comments What lines begin with that are no rows; '\0': none.
/// @param file For the error.
result<char> find_separator(std::string_view text, bool whole, char comments,
                            std::string_view file);

} // namespace graphmill
