#pragma once

#include "pipelines/flow/batch_metrics.hpp"
#include "pipelines/flow/stage_counters.hpp"
#include "pipelines/gradients/gradient_set.hpp"
#include "pipelines/gradients/roll_call.hpp"
#include "pipelines/gradients/step_exchange.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What a step gives, the same on all ranks.
struct step_sum {
  /// The sum over all ranks, which nobody changes any more.
  std::shared_ptr<const gradient_set> gradients;
  bool last = false; ///< A rank asks to stop; all ranks are told alike.
  std::vector<batch_metrics> metrics; ///< Of the step, by rank.
};

/// What ranks compare before they connect: the sizes of the model's gradients
/// as text, so that a difference can be shown to people.
std::string fingerprint_of(const gradient_shape& shape);

/// One rank's place in a gradient group: joins, takes steps, and finds out
/// who is missing when a step does not end. To be destroyed when every rank has
/// its last sum: what leaves early looks like a failure to the others.
///
/// States: joining, in a thread of the collective, while the first step waits
/// for it; taking steps; broken, after the first failure or `abandon`, when it
/// has left the group and all further steps fail alike. It never joins again: a
/// new generation is a new object. One thread at a time calls `reduce`; any may
/// call `abandon`. A group of one rank has no connections, and the sum is its
/// own gradient.
class group_rank {
public:
  /// Connects a rank that has joined; called once, for more than one rank.
  using connector = std::function<std::unique_ptr<collective>(
    std::shared_ptr<roll_call>, const std::string& fingerprint)>;

  group_rank(const group_options& options, gradient_shape shape,
             std::shared_ptr<rendezvous_store> store, const connector& connect,
             std::shared_ptr<stage_counters> counters,
             bucket_limits limits = {});

  /// Takes a step: returns when all ranks have, or after the timeouts of the
  /// options at the latest, counted from the end of backward. `mine` is not
  /// changed, and read as `progress` allows. One caller at a time.
  result<step_sum> reduce(const step_word& word,
                          const std::shared_ptr<const gradient_set>& mine,
                          gradient_progress& progress);

  /// Makes `reduce` end at once, with `ec::cancelled`. From any thread.
  void abandon();

private:
  result<void> begin(std::int64_t step, const gradient_set& mine,
                     gradient_progress& progress);
  result<void> run(step_exchange& exchange, std::int64_t step,
                   const gradient_progress& progress);
  void wait(std::uint64_t seen);
  /// Says why this rank ends the step by itself, to the others as well.
  error stopped(const gradient_progress& progress);
  /// The failure when a rank has left while this one connects to it.
  std::optional<error> left_early(std::int64_t step);
  struct spare_sets;
  std::shared_ptr<gradient_set> new_set();
  error late_to_join();
  /// @param peer Whose connection has failed, or this rank with its device.
  error why_failed(std::optional<rank_id> peer, std::int64_t step,
                   const error& reason);
  error why_late(const step_exchange& exchange, std::int64_t step);
  error missing(const std::vector<rank_id>& absent, std::int64_t step, ec code,
                const std::string& how);
  /// Fails this step and all to come.
  error leave(error reason);

  const group_options options_;
  exchange_schedule schedule_;
  std::shared_ptr<roll_call> roll_;
  std::shared_ptr<stage_counters> counters_;
  /// Memory of sums that nobody reads any more, for those of steps to come.
  std::shared_ptr<spare_sets> spare_;
  std::optional<error> broken_;
  std::atomic<bool> abandoned_{false};
  std::shared_ptr<progress_bell> bell_ = std::make_shared<progress_bell>();
  std::mutex mutex_; ///< Guards the pointer below.
  std::unique_ptr<collective> group_;
};

} // namespace graphmill
