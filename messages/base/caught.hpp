#pragma once

#include "messages/base/error.hpp"

#include <string_view>

namespace graphmill {

/// The exception that is being handled, as an error. For the doors where
/// exceptions of libraries end: `catch (...) { return caught("open it"); }`
/// gives "cannot open it: ...".
error caught(std::string_view doing);

} // namespace graphmill
