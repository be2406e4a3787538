#pragma once

#include "actors/transport/sessions/message.hpp"
#include "messages/wire/wire.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace graphmill {

/// What a transport does to its messages on purpose (`graphmill chaos`).
struct link_fault {
  enum class kind : std::uint8_t {
    cut,     ///< Ends connections, which are made anew.
    delay,   ///< Holds messages back.
    corrupt, ///< Makes envelopes on data channels unreadable.
  };
  kind what = kind::cut;
  std::string peer{}; ///< Address of whom we ask; empty: all, guests, too.
  std::chrono::milliseconds each{0};  ///< Of delay: of one message.
  std::chrono::milliseconds lasts{0}; ///< Of delay.
  std::uint32_t messages = 0;         ///< Of corrupt.
};

/// Faults that `graphmill chaos` injects into messages on their way out.
/// Delayed ones wait for the same time each, so that they leave in the order in
/// which they came. They are few and small: when there is no room for another
/// one, all leave at once, and nothing is held any more. Knows no sockets; used
/// on the transport's thread alone.
class message_faults {
public:
  static constexpr std::size_t most = 4096;
  static constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

  /// Where a message goes: by an address that we call, or by the connection of
  /// a guest.
  struct target {
    std::string to;
    bool guest = false;
    channel over = channel::control; ///< Of those that we call.
  };
  struct held {
    target where;
    message content;
    session_time due;
  };

  /// Begins to delay what is sent to a peer, or to all, or damages the next
  /// messages on data channels. Cutting is not done here.
  void begin(session_time now, const link_fault& fault);

  /// Damages a message, if one is to be. Takes it if it is to be held, or must
  /// not overtake one that is.
  /// @returns whether it was taken.
  bool take(session_time now, const target& where, message& content);

  /// What is to be sent now, in order.
  std::vector<held> due(session_time now);

  /// Drops what is held for an address: its connection has ended, and whoever
  /// sent it sends it again.
  void forget(const std::string& to);

  /// When `due` has something next.
  session_time next_tick() const;

private:
  std::string peer_;
  std::chrono::milliseconds each_{0};
  session_time until_{};
  std::deque<held> waiting_;
  std::map<std::string, std::size_t> count_; ///< Of those waiting, by target.
  std::uint64_t bytes_ = 0;
  std::uint32_t to_damage_ = 0; ///< Messages.
};

} // namespace graphmill
