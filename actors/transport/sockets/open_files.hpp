#pragma once

#include "messages/base/error.hpp"

#include <cstddef>

namespace graphmill {

/// Fails, with what to do, if this process may not have as many files open as a
/// daemon with that many peers needs. With fewer it would wait for them in
/// silence.
result<void> check_open_files(std::size_t peers);

} // namespace graphmill
