#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace graphmill {

/// Prints for the user. If the terminal or pipe is gone, the work goes on all
/// the same. `main` looks at the end whether standard output took everything.
template <class... Ts>
void say(std::FILE* to, fmt::format_string<Ts...> text, Ts&&... args) {
  const auto line = fmt::format(text, std::forward<Ts>(args)...);
  std::fwrite(line.data(), 1, line.size(), to);
}

/// The same on standard output.
template <class... Ts>
void say(fmt::format_string<Ts...> text, Ts&&... args) {
  say(stdout, text, std::forward<Ts>(args)...);
}

} // namespace graphmill
