#pragma once

#include "messages/base/identity.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/wire.hpp"

#include <chrono>

namespace graphmill {

/// The transport's clock; sessions get the time as an argument.
using session_time = std::chrono::steady_clock::time_point;

/// A message whose envelope has been decoded, or is to be encoded.
struct message {
  envelope head;
  payload data;
  /// It is to leave with an envelope that nobody can read, on purpose.
  bool damaged = false;
};

/// Fails if a payload is too large to be sent: too many frames, or too long a
/// one.
result<void> check_size(const payload& data);

/// Bytes that a message takes while it waits: its frames, and what holds them.
std::uint64_t cost_of(const message& of);

} // namespace graphmill
