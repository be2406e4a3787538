#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/wire/frame.hpp"
#include "messages/wire/gradients.hpp"

#include <cstdint>
#include <functional>
#include <memory>

namespace graphmill {

/// Is called, once and on any thread, with what has become of a message between
/// ranks: an error if it was not taken.
using message_answer = std::function<void(result<void>)>;

/// Takes what other ranks of a group send to one rank. Thread-safe.
class rank_inbox {
public:
  virtual ~rank_inbox() = default;

  /// Takes a message. Never waits.
  /// @param head The group and `head.to` have been checked, and of messages
  /// that came over the wire what `decode_gradient_message` checks; nothing
  /// else.
  /// @param bytes The content of a piece; empty in other messages.
  /// @param done Called when the message has had its effect, which may be at
  /// once, or when the rank leaves.
  virtual void deliver(const gradient_message& head, frame bytes,
                       message_answer done) = 0;
};

/// How one rank reaches the others of its group, and they it. It knows where
/// ranks are and nothing of gradients. Thread-safe.
class rank_link {
public:
  virtual ~rank_link() = default;

  /// From now on, what is sent to this rank goes to `inbox`, while that lives.
  virtual void open(std::weak_ptr<rank_inbox> inbox) = 0;
  /// From now on, what is sent to this rank is refused.
  virtual void close() = 0;

  /// The most bytes that may be sent to a peer and not be answered yet. One
  /// message may be sent, however large it is, when no other is unanswered.
  virtual std::uint64_t window(rank_id peer) const = 0;

  /// Sends a message to `head.to`, again and again until it is answered or the
  /// peer is lost. Messages may overtake each other, and come more than once.
  /// @param done Called exactly once; maybe before this returns.
  virtual void send(const gradient_message& head, frame bytes,
                    message_answer done) = 0;
};

} // namespace graphmill
