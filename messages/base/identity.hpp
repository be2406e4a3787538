#pragma once

#include <string>

namespace graphmill {

/// An incarnation or another name that nobody else draws or guesses: 32
/// hexadecimal digits from the system's generator.
std::string draw_identity();

} // namespace graphmill
