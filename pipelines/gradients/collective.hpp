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

/// Wakes threads that wait for any of several operations. A waiting thread
/// reads `count`, then checks the operations, and then waits from that count
/// on. So it misses no ring in between. Thread-safe.
class progress_bell {
public:
  /// How often it has rung. Read it before checking operations.
  std::uint64_t count() const;
  void ring();
  /// Returns when the bell has rung since `seen`, or after `at_most`.
  void wait(std::uint64_t seen, std::chrono::milliseconds at_most) const;

private:
  mutable std::mutex mutex_;
  mutable std::condition_variable rung_;
  std::uint64_t count_ = 0;
};

/// Receives what peers send, instead of memory. Thread-safe; several transfers
/// may share one.
class piece_receiver {
public:
  /// Pieces start and end at multiples of it, except at a transfer's end, so no
  /// number is cut in two.
  static constexpr std::size_t grain = 8;

  virtual ~piece_receiver() = default;

  /// Receives a piece of a transfer. Each byte comes once; pieces come in any
  /// order. Must be quick, because the transport waits.
  virtual void take(rank_id from, std::uint64_t offset, frame bytes) = 0;
};

/// The bytes that one rank sends to, or expects from, a peer.
struct transfer {
  rank_id peer = 0;
  std::span<std::byte> bytes; ///< Only read if they are sent.
  /// For sent bytes: keeps them alive. They do not change while it exists, so
  /// they need not be copied. Without an owner they may change as soon as the
  /// exchange has started.
  std::shared_ptr<const void> owner = nullptr;
  /// For received bytes: receives them instead of the memory, of which only the
  /// size counts.
  std::shared_ptr<piece_receiver> receiver = nullptr;
};

/// An operation of a collective: a number of transfers, to and from peers. It
/// is polled, never waited for; the bell rings when it ends. States: under way,
/// until all transfers are done; then done; or failed, by the first failure,
/// and for good. Thread-safe.
class operation {
public:
  /// Why an operation failed.
  struct failure {
    /// The peer whose connection failed; the rank's own number if the carrier
    /// of bulk does not know; none if it was no connection, as when a group is
    /// abandoned or not all ranks join.
    std::optional<rank_id> peer;
    error reason;
  };

  operation(std::shared_ptr<progress_bell> bell, rank_id ranks);

  /// All transfers are done, and none has failed; neither changes any more. So
  /// a caller that checks `failed` and then `done` never takes a failure for a
  /// success.
  bool done() const;
  /// Transfers that have not failed may then still write to their memory until
  /// the collective is gone.
  std::optional<failure> failed() const;
  /// Whether everything expected of `peer` has arrived.
  bool heard(rank_id peer) const;

  // -- for its carriers

  /// Announces a transfer. All are announced before any is done.
  /// @param incoming It comes from the peer.
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

/// One rank's place in a group of ranks of one generation. It sends bytes to
/// the others and receives theirs, and adds nothing. All ranks start the same
/// operations in the same order. One thread at a time starts operations; any
/// thread may call `abandon`. Nothing here waits for peers. Receive memory must
/// stay until the operation is done without failure, or until the collective is
/// gone. Destroying it leaves the group.
class collective {
public:
  virtual ~collective() = default;

  virtual rank_id rank() const = 0;
  virtual rank_id ranks() const = 0;

  /// Done when all ranks are connected. Operations may start afterwards.
  virtual std::shared_ptr<operation> joined() const = 0;

  /// Starts sending and receiving. Peers must expect exactly the sizes that are
  /// sent to them, in this order, in one exchange or in several. Empty
  /// transfers are skipped.
  virtual std::shared_ptr<operation> exchange(std::span<const transfer> out,
                                              std::span<const transfer> in) = 0;

  /// The same for large transfers between all ranks: all of them start it, also
  /// a rank that neither sends nor receives.
  virtual std::shared_ptr<operation>
  exchange_bulk(std::span<const transfer> out, std::span<const transfer> in) {
    return exchange(out, in);
  }
  /// Bulk has its own way, once joined: it may overtake `exchange`, and a
  /// failure names this rank, for lack of a peer.
  virtual bool has_bulk_way() const { return false; }

  /// Rings when an operation is done.
  virtual const std::shared_ptr<progress_bell>& bell() const = 0;

  /// Fails all present and later operations with `ec::cancelled`. Returns at
  /// once; from any thread.
  virtual void abandon() = 0;
};

} // namespace graphmill
