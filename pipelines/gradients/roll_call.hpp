#pragma once

#include "messages/base/ids.hpp"
#include "pipelines/gradients/rendezvous.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphmill {

/// One rank's place in a gradient group.
struct group_options {
  using milliseconds = std::chrono::milliseconds;

  std::string run;              ///< Separates the keys of runs in the store,
  std::uint64_t generation = 0; ///< and of generations of a run's group.
  rank_id rank = 0;
  rank_id ranks = 1;
  std::vector<std::string> names;       ///< Of ranks, for errors; may be empty.
  milliseconds join_timeout{60'000};    ///< For all ranks to join.
  milliseconds devices_timeout{60'000}; ///< To tell each other their devices.
  milliseconds connect_timeout{15'000}; ///< For their devices to connect.
  milliseconds step_timeout{60'000};    ///< For all ranks to do a step.
  milliseconds slow_after{2'000};       ///< Then a rank says that it waits.
  milliseconds grace{500};              ///< For others to say why they left.
};

/// Knows who is there: ranks leave notes in the store when they join, when a
/// step takes long, and when they give up. So an error names the rank that is
/// missing, and not the one that left because of it.
class roll_call {
public:
  using clock = rendezvous_store::clock;

  roll_call(group_options options, std::shared_ptr<rendezvous_store> store);

  /// Waits for all ranks to come here. Fails with the names of those who have
  /// not, or of the first one whose `fingerprint` is another one. Looks at
  /// `stop` a few times per second.
  result<void> join(const std::string& fingerprint,
                    const std::atomic<bool>& stop);

  /// Says that this rank waits for others in `step`.
  void waiting(std::int64_t step);
  /// Says that it does not any more.
  void went_on();
  /// Says that this rank leaves because of `missing`.
  void gave_up(std::span<const rank_id> missing);

  /// Of `suspects`, those who do not say that they wait in `step`, or in the
  /// step before: a rank may be one behind for want of the same missing rank.
  /// Waits a little for them to say so.
  std::vector<rank_id> absent(std::int64_t step,
                              std::span<const rank_id> suspects);
  /// Because of whom `rank` left, if it says so in time.
  std::optional<std::vector<rank_id>>
  verdict_of(rank_id rank, std::chrono::milliseconds wait);

  /// "rank 1 (b) and rank 3"
  std::string list(std::span<const rank_id> ranks) const;
  /// "the gradient group of 4 (generation 0)"
  std::string group() const;
  /// A key of this group in the store.
  std::string key(std::string_view name) const;
  const group_options& options() const { return options_; }

private:
  bool waits(std::int64_t step, rank_id rank);

  group_options options_;
  std::shared_ptr<rendezvous_store> store_;
};

} // namespace graphmill
