#include "actors/transport/sockets/engine.hpp"

#include "messages/wire/method.hpp"

#include <utility>

// What the engine does wrong on purpose, as `graphmill chaos` asks.

namespace graphmill {

void engine::obey(const mailbox::disturb& request) {
  const auto& fault = request.fault;
  switch (fault.what) {
  case link_fault::kind::cut:
    cut(fault.peer);
    break;
  case link_fault::kind::delay:
    held_.begin(now(), fault);
    break;
  case link_fault::kind::corrupt:
    to_corrupt_ = fault.messages;
    break;
  }
}

/// Both ends see what they see when a network breaks.
void engine::cut(const std::string& peer) {
  for (auto& [address, of] : callers_) {
    if (!of.link || (!peer.empty() && address != peer))
      continue;
    of.session.link_down(
      now(), fail(ec::unavailable, "the connection was cut on purpose"));
    pump(of);
  }
  if (!peer.empty())
    return;
  for (const auto& [descriptor, connection_id] : guests_)
    end_connection(descriptor, entrance_);
}

/// @returns whether the message is not to be sent now.
bool engine::holds(const held_messages::target& where, message& outgoing) {
  if (to_corrupt_ > 0 && outgoing.head.method != method::hello
      && traits_of(outgoing.head.method).channel == channel::data) {
    --to_corrupt_;
    outgoing.damaged = true;
  }
  return held_.take(now(), where, outgoing);
}

void engine::send_held() {
  for (auto& [where, content, due] : held_.due(now())) {
    if (where.guest) {
      hand_out(where.to, std::move(content));
      continue;
    }
    const auto at = callers_.find(where.to);
    if (at != callers_.end() && at->second.link)
      at->second.link->send(where.over, std::move(content));
  }
}

} // namespace graphmill
