#pragma once

#include "actors/transport/sessions/peer.hpp"

#include <chrono>

namespace graphmill {

/// How long a call may take: see `call_options`.
inline call_options within(std::chrono::milliseconds deadline,
                           std::chrono::milliseconds unreachable,
                           unsigned attempts = 3) {
  call_options out;
  out.deadline = deadline;
  out.unreachable = unreachable;
  out.attempts = attempts;
  return out;
}

} // namespace graphmill
