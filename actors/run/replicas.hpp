#pragma once

#include "actors/run/conductor.hpp"
#include "actors/run/member_answers.hpp"
#include "messages/base/error.hpp"

#include <cstddef>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace graphmill {

/// Says which ranks have other weights than most ranks.
/// @param replicas Trainers that have done the same steps. If two kinds of
/// weights are equally frequent, those of the first trainer count as usual.
std::optional<error> difference(const std::vector<trainer_answer>& replicas);

/// What is wrong with the answers of a run's trainers: some are missing or, if
/// they are to be equal, they are not.
std::optional<error> odd_among(const std::vector<trainer_answer>& replicas,
                               rank_id ranks, bool equal);

/// Sorts by steps, the most first: a step that fails may have succeeded at some
/// ranks.
void sort_by_steps(std::vector<trainer_answer>& replicas);

/// Looks for the weights that a run leaves. Members of other daemons answer a
/// snapshot with digests alone, so the weights are then asked of one member
/// after the other, until one can still give them. Each member is asked once.
/// Part of the CONDUCTOR's state, which does the asking.
class weight_search {
public:
  weight_search() = default;

  /// @param replicas As they answered a snapshot, the best first.
  explicit weight_search(std::vector<trainer_answer> replicas)
    : replicas_(std::move(replicas)) {}

  /// The member to ask now. None: the search is over.
  std::optional<std::size_t> next(const member_answers& members);

  /// @param answers Of the member that was asked; none if it did not answer.
  void take(const std::vector<trainer_answer>& answers);

  /// Adds the weights to what is told of a run's end, if there are any.
  void tell(run_outcome& end) const;

  /// The replica with weights. Null: none, as far as is known.
  const trainer_state* found() const;

private:
  std::vector<trainer_answer> replicas_; ///< That may still have weights.
  std::set<std::size_t> asked_;          ///< Members.
};

} // namespace graphmill
