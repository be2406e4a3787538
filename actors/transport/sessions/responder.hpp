#pragma once

#include "actors/transport/sessions/peer.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/method.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace graphmill {

/// Answers one request. Callable once, from any thread, also after the
/// transport is gone (then for nobody). Copies share it. When the last copy is
/// dropped unanswered, the caller gets an error.
class responder {
public:
  using sink = std::function<void(result<payload>)>;

  responder() = default;
  explicit responder(sink to);

  /// Answers, unless that has been done.
  void reply(result<payload> answer) const;

private:
  struct state;
  std::shared_ptr<state> state_;
};

/// A request that arrived.
struct incoming_request {
  graphmill::method method = graphmill::method::unset;
  peer_identity from;
  payload data;
  /// After this nobody waits for the answer.
  std::chrono::steady_clock::time_point deadline =
    std::chrono::steady_clock::time_point::max();
  responder reply;
  std::string host{}; ///< Whence its sender has connected; for limits and logs.
};

} // namespace graphmill
