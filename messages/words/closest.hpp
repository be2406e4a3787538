#pragma once

#include <span>
#include <string>
#include <string_view>

namespace graphmill {

/// The candidate nearest to a misspelt word, by edit distance with
/// transpositions (Damerau 1964, optimal string alignment), ignoring case and
/// the difference of '-' and '_'. Empty if none is near enough to be meant.
std::string closest(std::string_view word,
                    std::span<const std::string> candidates);

} // namespace graphmill
