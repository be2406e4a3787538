#pragma once

#include "actors/remote/interfaces.hpp"
#include "actors/remote/remote_part.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace graphmill {

/// Tells `proxy` what came of its request.
template <class Proxy>
void hand_back(const Proxy& proxy, std::uint64_t ticket, result<payload> got,
               std::string from) {
  remote_reply reply{ticket, {}, std::nullopt, std::move(from)};
  if (got)
    reply.data = std::move(got).value();
  else
    reply.failure = std::move(got).error();
  post(proxy, std::move(reply));
}

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
    hand_back(proxy, ticket, std::move(got), {});
  });
}

/// The same of an owner of a part, whose name comes with the answer.
template <class Proxy>
void ask_owner(const Proxy& proxy, std::uint64_t ticket, const remote_part& to,
               method method_id, payload data) {
  ++to.counters->requests;
  to.counters->bytes_out += data.byte_size();
  to.call(method_id, std::move(data),
          [proxy, ticket](result<payload> got, const std::string& from) {
            hand_back(proxy, ticket, std::move(got), from);
          });
}

} // namespace graphmill
