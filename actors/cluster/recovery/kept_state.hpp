#pragma once

#include "messages/base/ids.hpp"
#include "messages/wire/run.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace graphmill {

/// What a daemon keeps of runs whose attempts have broken, for the next ones to
/// go on from: the state of the trainer here that was furthest. Of each run
/// once, until its next share is deployed here, or one whose coordinator does
/// not go on with that run, or its time is over. So there are no more than runs
/// that may be on at once. Used in the AGENT's handlers
/// alone.
class kept_state {
public:
  using clock = std::chrono::steady_clock;

  struct content {
    std::string run;
    std::uint32_t attempt = 0; ///< Of that run.
    rank_id rank = 0;          ///< Whose state it was.
    std::string digest;        ///< Of the weights.
    training_state state;
  };

  /// Takes the place of what was kept of the run before.
  void keep(content what, clock::time_point until);
  void forget(const std::string& run) { kept_.erase(run); }
  /// Forgets what is kept of all other runs.
  void keep_only(const std::vector<std::string>& runs);
  /// Forgets what has been kept for long enough.
  void look(clock::time_point now);

  /// What the coordinator is told that asks what is kept of a run; nothing, if
  /// nothing is.
  member_reply of(const std::string& run) const;

  /// A piece of it.
  result<payload> piece(const weights_request& wanted) const;

private:
  struct entry {
    content what;
    clock::time_point until;
  };
  std::map<std::string, entry> kept_; ///< By run.
};

} // namespace graphmill
