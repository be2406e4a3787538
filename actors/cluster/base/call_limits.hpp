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

/// The same for a call that may take long. A request or an answer can be lost
/// while the connection lasts, and only a repetition shows it. The peer carries
/// a request out once, however often it comes.
inline call_options repeated(std::chrono::milliseconds deadline,
                             std::chrono::milliseconds unreachable) {
  auto out = within(deadline, unreachable, 1'000'000);
  out.repeat = std::chrono::seconds{10};
  out.longest_repeat = std::chrono::seconds{60};
  return out;
}

} // namespace graphmill
