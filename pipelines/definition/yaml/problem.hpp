#pragma once

#include "messages/base/error.hpp"
#include "messages/words/closest.hpp"

#include <span>
#include <string>
#include <string_view>

namespace graphmill {

/// A place in the user's text.
struct source_position {
  std::string origin; ///< A file, or a flag with its value.
  int line = 0;       ///< From 1; 0 when the origin has no lines.
  int column = 0;     ///< From 1, in bytes.

  friend bool operator==(const source_position&,
                         const source_position&) = default;
};

/// One problem of a definition. Problems are collected, so that the user sees
/// all of them at once.
struct problem {
  source_position where;
  std::string text; ///< A sentence without its full stop.
};

/// "file:line:column: text", or "flag: text".
std::string to_string(const problem& found);

/// All problems, a line each, as one error. There must be at least one.
error to_error(std::span<const problem> problems);

/// Foreign text in back quotes: safe for a terminal (control characters
/// escaped) and not too long.
std::string in_quotes(std::string_view text);

/// "; did you mean `x`?", or nothing if `closest` finds nothing.
std::string suggestion(std::string_view word,
                       std::span<const std::string> candidates);

} // namespace graphmill
