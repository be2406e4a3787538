#pragma once

#include "messages/base/ids.hpp"
#include "messages/wire/run.hpp"
#include "pipelines/results/checkpoint.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace graphmill {

/// What a daemon keeps of a run whose attempt has broken, for the next one to
/// go on from: the state of the trainer here that was furthest. Of one run at a
/// time, until another share is deployed here or its time is over. Used by the
/// SHARE HOST alone, in the AGENT's handlers.
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

  /// Takes the place of what was kept before.
  void keep(content what, clock::time_point until);
  void forget() { kept_.reset(); }
  /// Forgets what has been kept for long enough.
  void look(clock::time_point now);

  /// What the coordinator is told that asks what is kept of a run: nothing, if
  /// it is of another one.
  member_reply of(const std::string& run) const;

  /// A piece of it.
  result<payload> piece(const weights_request& wanted) const;

private:
  std::optional<content> kept_;
  clock::time_point until_{};
};

} // namespace graphmill
