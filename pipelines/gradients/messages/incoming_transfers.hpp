#pragma once

#include "pipelines/gradients/collective.hpp"
#include "pipelines/gradients/messages/rank_link.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace graphmill {

/// What one rank expects of one peer, and what has come of it. Transfers are
/// numbered in the order in which they are expected. Their pieces may come
/// before that: then they are held, and not answered, so that the peer's window
/// bounds them. They may come in any order, and again. Thread-safe; answers are
/// called without a lock of its own being held.
class incoming_transfers {
public:
  explicit incoming_transfers(rank_id peer) : peer_(peer) {}

  /// Expects the next transfer, which has been announced to `of`.
  void expect(std::span<std::byte> into, std::shared_ptr<operation> of);

  /// A piece has come from the peer.
  void deliver(const gradient_message& head, frame bytes, message_answer done);

  /// Fails all transfers that are expected, now and later; the first reason
  /// counts. No memory of theirs is touched any more.
  void fail(const operation::failure& reason);

  /// After `fail`: answers all pieces with this error, those held as well.
  void refuse(const error& reason);

private:
  struct piece {
    gradient_message head;
    frame bytes;
    message_answer done;
  };
  /// A transfer that has not come as a whole.
  struct transfer_in {
    std::span<std::byte> into;
    std::shared_ptr<operation> of;
    std::uint64_t missing = 0;                   ///< Bytes.
    std::map<std::uint64_t, std::uint64_t> come; ///< Ranges: begin to end.
  };
  struct outcome {
    message_answer done;
    result<void> answer;
  };
  using transfers = std::map<std::uint64_t, transfer_in>;

  result<void> take(const piece& from);
  result<void> put(transfer_in& to, const piece& from) const;

  const rank_id peer_;
  std::mutex mutex_; ///< Guards what follows, and the memory of transfers.
  std::uint64_t expected_ = 0; ///< Transfers so far.
  transfers open_;             ///< By number.
  std::multimap<std::uint64_t, piece> early_;
  std::optional<operation::failure> failed_;
  std::optional<error> refusal_;
};

} // namespace graphmill
