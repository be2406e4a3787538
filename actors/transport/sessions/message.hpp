#pragma once

#include "messages/base/identity.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/wire.hpp"

#include <chrono>

namespace graphmill {

/// The transport's clock; sessions get the time as an argument.
using session_time = std::chrono::steady_clock::time_point;

/// A message with a decoded envelope, or one to encode.
struct message {
  envelope head;
  payload data;
  /// It leaves with an unreadable envelope, on purpose.
  bool damaged = false;
};

/// Fails if a payload is too large: too many frames, or too long a frame.
result<void> check_size(const payload& data);

/// Bytes of a waiting message: its frames, and their overhead.
std::uint64_t cost_of(const message& of);

} // namespace graphmill
