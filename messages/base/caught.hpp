#pragma once

#include "messages/base/error.hpp"

#include <string_view>

namespace graphmill {

/// The current exception as an error, where exceptions of libraries end: `catch
/// (...) { return caught("open it"); }` gives "cannot open it: ...".
error caught(std::string_view doing);

/// Does the work of a destructor, which must not throw: that would end the
/// process. An exception of `f` is dropped, because nobody can receive it. Most
/// likely memory has run out.
template <class F>
void quietly(F&& f) noexcept {
  try {
    f();
  } catch (...) { // Nobody can receive it.
  }
}

} // namespace graphmill
