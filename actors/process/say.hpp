#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace graphmill {

/// Prints for the user. The terminal or pipe may be gone: that is no failure of
/// what is told about, so it goes on. `main` looks at the end whether standard
/// output took all.
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
