#pragma once

#include "messages/base/error.hpp"

#include <string_view>

namespace graphmill {

/// The exception that is being handled, as an error. For the doors where
/// exceptions of libraries end: `catch (...) { return caught("open it"); }`
/// gives "cannot open it: ...".
error caught(std::string_view doing);

/// Does what a destructor does, from which nothing may be thrown: that would
/// end the process. What `f` throws is dropped, for there is nobody to tell; it
/// is memory that has run out in all likelihood.
template <class F>
void quietly(F&& f) noexcept {
  try {
    f();
  } catch (...) { // Nobody to tell.
  }
}

} // namespace graphmill
