#pragma once

#include "pipelines/gradients/bulk_carrier.hpp"
#include "pipelines/gradients/collective.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace graphmill {

/// What the thread of a rank works on that exchanges bulk by a carrier: it
/// joins, and then carries. It may be stuck in the carrier's library, so it
/// outlives the rank: memory of exchanges is copied, by whoever comes
/// first, under a mutex that is never held while the library works.
class bulk_exchange {
public:
  /// @param group Used until `let_go` returns.
  bulk_exchange(carrier_factory factory, collective& group);

  // -- for the thread

  void run();

  // -- for the rank

  std::shared_ptr<operation> post(std::span<const transfer> out,
                                  std::span<const transfer> in);
  /// Fails all operations. Returns at once.
  void abandon();
  /// After `abandon`: returns, soon, when the group is not used any more.
  void let_go();

  /// Done when all ranks have joined `group` and, if bulk is carried, have
  /// connected their devices. Each call looks whether a rank is lost meanwhile.
  const std::shared_ptr<operation>& joined();
  bool carries() const { return carries_; } ///< Once joined.
  bool ended() const { return ended_; }     ///< `run` has nothing left to do.

private:
  using failure = std::optional<operation::failure>;
  /// An exchange, with copies of its memory.
  struct flight {
    flight(std::span<const transfer> out, std::span<const transfer> in,
           std::shared_ptr<operation> of);

    std::vector<transfer> into; ///< Memory of the caller.
    std::vector<std::byte> bytes;
    std::vector<transfer> out; ///< Places in `bytes`.
    std::vector<transfer> in;  ///< The same.
    std::shared_ptr<operation> of;
  };

  bool enter_group();
  void leave_group();
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
  collective& group_; ///< From `enter_group` to `leave_group`.
  const rank_id rank_;
  const std::shared_ptr<progress_bell> bell_;
  const std::shared_ptr<operation> joined_;
  std::vector<carrier_factory::device_id> devices_; ///< Per rank.
  /// Per rank: what it sends when its device is connected.
  std::vector<carrier_factory::device_id> connected_;
  std::unique_ptr<bulk_carrier> carrier_; ///< Of the thread.
  std::deque<flight> flying_;             ///< Of the thread.
  std::atomic<bool> carries_{false};
  std::atomic<bool> ended_{false};
  std::atomic<bool> stop_{false};

  /// Guards what follows, and memory of callers: not touched after `stop_`.
  std::mutex mutex_;
  std::condition_variable changed_;
  bool uses_group_ = false;
  std::shared_ptr<operation> watch_; ///< Fails when a rank is lost.
  std::deque<flight> waiting_;
  std::vector<std::shared_ptr<operation>> open_; ///< Of all flights.
  std::optional<operation::failure> broken_;
};

} // namespace graphmill
