#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"
#include "messages/wire/frame.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace graphmill {

/// Wakes those who wait for any of several operations. Whoever waits reads
/// `count`, then looks at the operations, and then waits from that count on: so
/// no ring between looking and waiting is missed. Thread-safe.
class progress_bell {
public:
  /// How often it has rung; to be read before looking at operations.
  std::uint64_t count() const;
  void ring();
  /// Returns when the bell has rung since `seen`, or after `at_most`.
  void wait(std::uint64_t seen, std::chrono::milliseconds at_most) const;

private:
  mutable std::mutex mutex_;
  mutable std::condition_variable rung_;
  std::uint64_t count_ = 0;
};

/// Takes what peers send, in the place of memory. Thread-safe; several
/// transfers may share one.
class piece_receiver {
public:
  /// Pieces begin and end at multiples of it, but for a transfer's end, so that
  /// no number is cut in two.
  static constexpr std::size_t grain = 8;

  virtual ~piece_receiver() = default;

  /// Takes a piece of a transfer. Each byte of a transfer comes once; pieces
  /// come in any order. Is quick, for others of the transport wait.
  virtual void take(rank_id from, std::uint64_t offset, frame bytes) = 0;
};

/// What one rank sends to, or expects from, a peer.
struct transfer {
  rank_id peer = 0;
  std::span<std::byte> bytes; ///< Only read if they are sent.
  /// For bytes that are sent: keeps them alive, and they do not change while
  /// anybody has it, so they need not be copied. Without an owner they may
  /// change as soon as the exchange has begun.
  std::shared_ptr<const void> owner = nullptr;
  /// For bytes that are received: takes them, instead of the memory, of which
  /// the size alone counts then.
  std::shared_ptr<piece_receiver> receiver = nullptr;
};

/// An operation of a collective under way: a number of transfers, to and from
/// peers. It is polled, never waited for; the bell rings when it ends. States:
/// under way, until all transfers are done; then done; or failed, by the first
/// failure, and for good. Thread-safe.
class operation {
public:
  /// Why an operation failed.
  struct failure {
    /// Whose connection failed; the rank's own number if the carrier of bulk
    /// cannot say whose; none if it was nobody's, as when a group is abandoned
    /// or not all ranks join.
    std::optional<rank_id> peer;
    error reason;
  };

  operation(std::shared_ptr<progress_bell> bell, rank_id ranks);

  /// All transfers are done, and none has failed: neither changes any more. So
  /// whoever asks whether it has failed, and then whether it is done, takes no
  /// failure in between for a success.
  bool done() const;
  /// Transfers that have not failed may then still write to their memory until
  /// the collective is gone.
  std::optional<failure> failed() const;
  /// Whether all that is expected of `peer` has come.
  bool heard(rank_id peer) const;

  // -- for those who carry it out

  /// Announces a transfer; all are announced before any is done.
  /// @param incoming It comes from the peer, and does not go to it.
  void expect(rank_id peer, bool incoming);
  void transfer_done(rank_id peer, bool incoming);
  /// The first failure counts.
  void fail_with(failure reason);

private:
  const std::shared_ptr<progress_bell> bell_;
  mutable std::mutex mutex_;
  std::size_t open_ = 0;              ///< How many transfers are not done.
  std::vector<std::size_t> incoming_; ///< How many of each peer are not done.
  std::optional<failure> failure_;
};

/// One rank's place in a group of ranks of one generation: it sends bytes to
/// the others and receives theirs, and adds nothing up. All ranks start the
/// same operations in the same order. One thread at a time starts operations;
/// any may call `abandon`. Nothing here waits for peers. Memory to receive into
/// must stay until the operation is done without failure, or until the
/// collective is gone. To destroy it is to leave the group.
class collective {
public:
  virtual ~collective() = default;

  virtual rank_id rank() const = 0;
  virtual rank_id ranks() const = 0;

  /// Done when all ranks are connected. Operations may start after that.
  virtual std::shared_ptr<operation> joined() const = 0;

  /// Starts sending and receiving. Peers must expect just the sizes that are
  /// sent to them, in this order, be it in one exchange or in several. Empty
  /// transfers are skipped.
  virtual std::shared_ptr<operation> exchange(std::span<const transfer> out,
                                              std::span<const transfer> in) = 0;

  /// The same for what is large and goes between all ranks: all of them start
  /// it, also one that neither sends nor receives.
  virtual std::shared_ptr<operation>
  exchange_bulk(std::span<const transfer> out, std::span<const transfer> in) {
    return exchange(out, in);
  }
  /// Bulk has a way of its own, once joined: it may overtake what `exchange`
  /// carries, and a failure names this rank, for want of a peer.
  virtual bool has_bulk_way() const { return false; }

  /// Rings when an operation is done.
  virtual const std::shared_ptr<progress_bell>& bell() const = 0;

  /// Fails all operations with `ec::cancelled`, those to come as well. Returns
  /// at once; from any thread.
  virtual void abandon() = 0;
};

} // namespace graphmill
