#pragma once

#include "messages/base/error.hpp"
#include "messages/base/ids.hpp"

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

/// Wakes who waits for any of several operations.
class progress_bell {
public:
  /// To be read before looking at operations.
  std::uint64_t count() const;
  void ring();
  /// Returns when the bell has rung since `seen`, or after `at_most`.
  void wait(std::uint64_t seen, std::chrono::milliseconds at_most) const;

private:
  mutable std::mutex mutex_;
  mutable std::condition_variable rung_;
  std::uint64_t count_ = 0;
};

/// What one rank sends to, or expects from, a peer.
struct transfer {
  rank_id peer = 0;
  std::span<std::byte> bytes; ///< Not written to when sent.
  /// Of bytes that are sent: keeps them, and they do not change while anybody
  /// has it. Without one they may change once the exchange has begun.
  std::shared_ptr<const void> owner = nullptr;
};

/// An operation of a collective under way: polled, never waited for.
/// Thread-safe.
class operation {
public:
  /// Why an operation failed.
  struct failure {
    std::optional<rank_id> peer; ///< Whose connection it was.
    error reason;
  };

  operation(std::shared_ptr<progress_bell> bell, rank_id ranks);

  /// All transfers are done, or one has failed: others may then still write to
  /// their memory until the collective is gone.
  bool done() const;
  std::optional<failure> failed() const;
  /// Everything expected of `peer` has come.
  bool heard(rank_id peer) const;

  // -- for who carries it out

  /// Announces a transfer; before any is done. `incoming`: from the peer.
  void expect(rank_id peer, bool incoming);
  void transfer_done(rank_id peer, bool incoming);
  /// The first failure counts.
  void fail_with(failure reason);

private:
  const std::shared_ptr<progress_bell> bell_;
  mutable std::mutex mutex_;
  std::size_t open_ = 0;
  std::vector<std::size_t> incoming_; ///< Per peer.
  std::optional<failure> failure_;
};

/// One rank's place in a group of ranks of one generation. All ranks start
/// the same operations in the same order. Memory to receive into must stay
/// until the operation is done without failure, or until the collective is
/// gone.
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
