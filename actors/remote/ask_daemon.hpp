#pragma once

#include "actors/remote/interfaces.hpp"
#include "actors/remote/remote_part.hpp"

#include <cstdint>
#include <utility>

namespace graphmill {

/// Asks a daemon by `call`, and counts the request and its bytes. The answer
/// comes to `proxy` as a `remote_reply` with this ticket; until then the
/// request keeps the proxy alive.
template <class Proxy>
void ask_daemon(const Proxy& proxy, std::uint64_t ticket,
                const remote_call& call, method method_id, payload data,
                remote_counters& counters) {
  ++counters.requests;
  counters.bytes_out += data.byte_size();
  call(method_id, std::move(data), [proxy, ticket](result<payload> got) {
    remote_reply reply{ticket, {}, std::nullopt};
    if (got)
      reply.data = std::move(got).value();
    else
      reply.failure = std::move(got).error();
    post(proxy, std::move(reply));
  });
}

} // namespace graphmill
