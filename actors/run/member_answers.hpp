#pragma once

#include "actors/base/interfaces.hpp"
#include "actors/run/run_course.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace graphmill {

/// What all members are asked for a task of a run, if anything.
std::optional<trainer_action> order_for(run_course::task next);

/// The request for it. @param from What the run goes on from, which its
/// trainers restore.
trainer_request request_for(trainer_action action,
                            const std::optional<training_state>& from);

/// What a trainer has answered.
struct trainer_answer {
  std::size_t member = 0; ///< Whose trainer it is.
  trainer_state state;
};

/// Which members of a run owe an answer to the last request, and what the
/// others have answered. A new request may be given before all have answered
/// the last one, whose answers then do not count any more. A member that is
/// lost is never asked again. Part of the CONDUCTOR's state; it sends nothing
/// itself.
class member_answers {
public:
  explicit member_answers(std::size_t members = 0) : members_(members) {}

  /// A new request to all members that are there. @returns whom to send it.
  std::vector<std::size_t> ask_all();

  /// A new request to this member alone.
  void ask(std::size_t member);

  /// The number of the last request.
  std::uint64_t request() const { return request_; }

  /// Whether the member's answer to the request is waited for.
  bool awaits(std::uint64_t request, std::size_t member) const {
    return request == request_ && members_[member].owing;
  }

  /// Keeps the answer of a member, which still owes it.
  void keep(std::size_t member, const member_state& answer);

  /// The member has answered, or never will.
  /// @returns whether it owed an answer.
  bool settle(std::size_t member);

  /// The member's daemon is gone.
  void lose(std::size_t member) { members_[member].lost = true; }
  bool is_lost(std::size_t member) const { return members_[member].lost; }

  std::size_t members() const { return members_.size(); }
  std::size_t owing() const; ///< Members.

  /// What has been answered to the last request, by rank.
  std::vector<trainer_answer> take();

private:
  struct party {
    bool owing = false;
    bool lost = false;
  };
  std::vector<party> members_;
  std::vector<trainer_answer> answers_;
  std::uint64_t request_ = 0;
};

} // namespace graphmill
