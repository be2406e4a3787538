#pragma once

#include "pipelines/gradients/messages/rank_link.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

namespace graphmill {

/// What one rank sends to one peer: transfers, cut into pieces, of which no
/// more are on their way than the link's window allows. The others wait here;
/// how many there may be is up to the rank.
///
/// It sends until `stop`, or until the peer does not take a piece; after that
/// it drops all that waits and all that comes. Thread-safe: answers come on any
/// thread. The link and `on_failure` are called without a lock of its own being
/// held.
class outgoing_pieces : public std::enable_shared_from_this<outgoing_pieces> {
public:
  /// @param address Group and ranks, which are those of all messages.
  /// @param on_failure Told why a piece was not taken, maybe more than once.
  outgoing_pieces(gradient_message address, std::shared_ptr<rank_link> link,
                  std::function<void(error)> on_failure);

  /// Sends the next transfer. Never waits.
  /// @param owner Keeps the bytes alive and unchanged; without one they are
  /// copied.
  void send(std::span<const std::byte> bytes,
            std::shared_ptr<const void> owner);

  /// Sends nothing from now on.
  void stop();

private:
  struct piece {
    gradient_message head;
    frame bytes;
  };

  void pump();
  void taken(std::uint64_t bytes, const result<void>& how);

  const gradient_message address_;
  const std::shared_ptr<rank_link> link_;
  const std::function<void(error)> on_failure_;
  const std::uint64_t window_;
  const std::size_t piece_bytes_;
  std::mutex mutex_;
  std::deque<piece> waiting_;
  std::uint64_t transfers_ = 0;  ///< How many there have been so far.
  std::uint64_t unanswered_ = 0; ///< Bytes on their way.
  bool pumping_ = false; ///< A thread is sending, and goes on while it can.
  bool stopped_ = false;
};

} // namespace graphmill
