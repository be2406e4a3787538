#pragma once

#include "pipelines/gradients/collective.hpp"
#include "pipelines/gradients/devices/bulk_carrier.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace graphmill {

/// Exchanges bulk by a carrier for one rank. A thread of its own, which others
/// start, calls `run` and leads it through its states:
///
///   joining     waits until all ranks have joined `group`, by which each then
///               tells all others its device;
///   connecting  if each rank has a device of its own: `factory.connect`. All
///               the while a word of each rank is expected over `group`, for
///               that fails when a rank is lost, and a library that connects
///               may wait for it forever. A rank that has connected sends its
///               word;
///   carrying    starts what has been posted, in order, and looks again and
///               again whether the oldest exchange has come;
///   ended       after a failure, after `abandon`, or right after joining if
///               some rank has no device of its own: then bulk stays with
///               `group`.
///
/// The thread may be stuck in the carrier's library, so this object outlives
/// the rank and the library never gets the rank's memory: `post` copies what is
/// sent, and the thread copies what has come, under a mutex that is never held
/// while the library works, and not after `abandon`.
class bulk_exchange {
public:
  /// @param group Borrowed, and used until `let_go` returns.
  bulk_exchange(carrier_factory factory, collective& group);

  // -- for the thread

  /// Goes through all states, and returns when it has ended. Called once.
  void run() noexcept;

  // -- for the rank, from any thread

  /// Posts an exchange, as `collective::exchange_bulk`; only if `carries`.
  std::shared_ptr<operation> post(std::span<const transfer> out,
                                  std::span<const transfer> in);
  /// Fails all operations with `cancelled`, those to come as well, and touches
  /// no memory of callers from then on. Returns at once.
  void abandon();
  /// After `abandon`: returns, soon, when the group is not used any more.
  void let_go();

  /// Done when all ranks have joined `group` and, if bulk is carried, have
  /// connected their devices. Each call looks whether a rank is lost meanwhile.
  const std::shared_ptr<operation>& joined();
  /// Whether bulk goes by the carrier; known once joined.
  bool carries() const { return carries_; }
  /// Whether `run` has nothing left to do, so that its thread can be joined.
  bool ended() const { return ended_; }

private:
  using failure = std::optional<operation::failure>;
  /// An exchange, with copies of its memory.
  struct flight {
    flight(std::span<const transfer> out, std::span<const transfer> in,
           std::shared_ptr<operation> of);

    std::vector<transfer> into;   ///< Where the caller receives.
    std::vector<std::byte> bytes; ///< The copies, of all that goes and comes.
    std::vector<transfer> out;    ///< What is sent: places in `bytes`.
    std::vector<transfer> in;     ///< What is received: places in `bytes`.
    std::shared_ptr<operation> of;
  };

  bool enter_group();
  void leave_group();
  void take_part();
  void fail_run(error reason);
  failure join();
  failure tell_devices();
  void start_watch();
  failure end_watch();
  failure connect();
  std::vector<transfer>
  peers(std::vector<carrier_factory::device_id>& words) const;
  failure wait_for(const operation& of) const;
  void carry();
  result<bool> advance();
  void deliver(flight landed);
  void break_off(error reason);
  void fail_all(const operation::failure& reason);

  const carrier_factory factory_;
  collective& group_; ///< Used from `enter_group` to `leave_group` only.
  const rank_id rank_;
  const std::shared_ptr<progress_bell> bell_;
  const std::shared_ptr<operation> joined_;
  std::vector<carrier_factory::device_id> devices_; ///< By rank.
  /// By rank: the word that it sends when its device is connected, whose
  /// content does not matter.
  std::vector<carrier_factory::device_id> connected_;
  std::unique_ptr<bulk_carrier> carrier_; ///< Used by the thread alone.
  std::deque<flight> flying_;             ///< Used by the thread alone.
  std::atomic<bool> carries_{false};
  std::atomic<bool> ended_{false};
  std::atomic<bool> stop_{false};

  /// Guards what follows, and the memory of callers, which is not touched any
  /// more once `stop_` is set.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool uses_group_ = false;
  std::shared_ptr<operation> watch_; ///< Fails when a rank is lost.
  std::deque<flight> waiting_;
  std::vector<std::shared_ptr<operation>> open_; ///< Those of all flights.
  std::optional<operation::failure> broken_;
};

} // namespace graphmill
