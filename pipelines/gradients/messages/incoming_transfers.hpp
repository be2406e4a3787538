#pragma once

#include "pipelines/gradients/collective.hpp"
#include "pipelines/gradients/messages/rank_link.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace graphmill {

/// What one rank expects of one peer, and what has come of it. Transfers are
/// numbered in the order in which they are expected. Their pieces may come in
/// any order, and more than once.
///
/// A transfer is unknown until `expect`: pieces that come before are held and
/// not answered, so that the peer's window bounds how many there are. Then it
/// is open, and pieces go to their places and are answered; when all bytes
/// have come, it is complete, and pieces that come again are answered and
/// dropped. After `fail` no transfer is open any more, and pieces are held once
/// more, until `refuse` answers all of them with an error.
///
/// Thread-safe: the rank expects while any thread delivers. Answers are called
/// without a lock of its own being held, for they may come back here.
class incoming_transfers {
public:
  explicit incoming_transfers(rank_id peer) : peer_(peer) {}

  /// Expects the next transfer, which has been announced to `of`.
  /// @param place Memory as large as the transfer, which must stay until the
  /// transfer is complete or `fail` has returned; or a receiver, which is not
  /// called any more after that.
  void expect(const transfer& place, std::shared_ptr<operation> of);

  /// Takes a piece that has come from the peer. One that does not fit its
  /// transfer is answered with `invalid_data` and changes nothing.
  /// @param done Called once, now or later.
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
    transfer place;
    std::shared_ptr<operation> of;
    std::uint64_t missing = 0; ///< How many bytes have not come.
    /// The ranges of bytes that have come: from the begin of each to its end.
    std::map<std::uint64_t, std::uint64_t> come;
  };
  /// An answer that is due once the lock is gone.
  struct outcome {
    message_answer done;
    result<void> answer;
  };
  using transfers = std::map<std::uint64_t, transfer_in>;

  result<void> take(const piece& from);
  result<void> put(transfer_in& to, const piece& from) const;

  const rank_id peer_;
  std::mutex mutex_; ///< Guards what follows, and the memory of transfers.
  std::uint64_t expected_ = 0; ///< How many transfers have been expected.
  transfers open_;             ///< By number.
  std::multimap<std::uint64_t, piece> early_; ///< Held, by transfer.
  std::optional<operation::failure> failed_;
  std::optional<error> refusal_;
};

} // namespace graphmill
