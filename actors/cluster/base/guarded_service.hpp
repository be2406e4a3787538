#pragma once

#include "actors/transport/sockets/complaint_log.hpp"
#include "actors/transport/transport.hpp"
#include "messages/base/caught.hpp"

#include <fmt/format.h>

#include <chrono>

namespace graphmill {

/// Serves a request by `serve(request)`, unless its sender has given it up by
/// now: after a pause of this process, say, such a request may be an old one.
/// What serving throws costs the sender an error, and never the process its
/// life.
template <class Serve>
void guarded_service(const incoming_request& request, complaint_log& complaints,
                     Serve&& serve) {
  try {
    if (std::chrono::steady_clock::now() > request.deadline)
      request.reply.reply(fail(ec::timeout, "`{}` was not begun in time",
                               to_string(request.method)));
    else
      serve(request);
  } catch (...) {
    const auto reason =
      caught(fmt::format("serve `{}`", to_string(request.method)));
    complaints.add(reason.message, std::chrono::steady_clock::now());
    request.reply.reply(reason);
  }
}

} // namespace graphmill
