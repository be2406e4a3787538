#pragma once

#include "messages/error.hpp"

#include <string>

namespace graphmill {

/// Fails if libtorch knows no device of this name, or this machine has none.
result<void> check_device(const std::string& device);

} // namespace graphmill
