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

/// Who a rank is in a gradient group, and how long it waits for others.
struct group_options {
  using milliseconds = std::chrono::milliseconds;

  std::string run; ///< Keeps the keys of different runs in the store apart.
  /// Keeps apart those of the groups that a run forms one after the other.
  std::uint64_t generation = 0;
  rank_id rank = 0;
  rank_id ranks = 1;
  std::vector<std::string> names;    ///< By rank, for errors; may be empty.
  milliseconds join_timeout{60'000}; ///< How long all ranks may take to join.
  /// How long they may take to tell each other their devices.
  milliseconds devices_timeout{60'000};
  /// How long their devices may take to connect.
  milliseconds connect_timeout{15'000};
  /// How long a step may take after this rank's backward has ended.
  milliseconds step_timeout{60'000};
  /// When a step has taken this long, a rank says that it waits.
  milliseconds slow_after{2'000};
  /// How long this rank waits for others to say why they have left.
  milliseconds grace{500};
};

/// Knows who is there: ranks leave notes in the store when they join, when a
/// step takes long, and when they give up. So an error names the rank that is
/// missing, and not the one that left because of it. It keeps nothing but in
/// the store, so any thread may call it at any time; most calls wait for the
/// store, and some for other ranks.
class roll_call {
public:
  using clock = rendezvous_store::clock;

  roll_call(group_options options, std::shared_ptr<rendezvous_store> store);

  /// Waits for all ranks to come here. Fails with the names of those who have
  /// not, or of the first one whose `fingerprint` is another one. Looks at
  /// `stop` a few times per second.
  result<void> join(const std::string& fingerprint,
                    const std::atomic<bool>& stop);

  /// Notes that this rank waits for others in `step`.
  void waiting(std::int64_t step);
  /// Notes that it does not wait any more.
  void went_on();
  /// Notes that this rank leaves because of `missing`, which may be itself.
  void gave_up(std::span<const rank_id> missing);

  /// Finds out which of `suspects` do not say that they wait in `step`, or in
  /// the step before: a rank may be one behind for want of the same missing
  /// rank. Waits for them to say so, `group_options::grace` at most.
  std::vector<rank_id> absent(std::int64_t step,
                              std::span<const rank_id> suspects);
  /// The ranks because of which `rank` has left, if it says so within `wait`.
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
