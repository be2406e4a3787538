#pragma once

#include "actors/base/request_watch.hpp"
#include "actors/cluster/base/interfaces.hpp"
#include "actors/cluster/daemon/shares/hosted_shares.hpp"
#include "actors/cluster/recovery/kept_state.hpp"

#include <spdlog/fwd.h>

#include <functional>
#include <memory>

namespace graphmill {

/// Keeps what the trainers of an ending share have, for the next attempt at the
/// run. Used in the AGENT's handlers alone.
class share_keeper {
public:
  /// @param self The agent. @param shares Outlives this.
  share_keeper(agent_actor::pointer self, const hosted_shares& shares,
               std::shared_ptr<spdlog::logger> log);

  /// Keeps the state of the trainers here, if there are any and the run
  /// recovers. Then, in a handler of the agent, calls `then`.
  void keep_and_then(const share_ptr& share, std::function<void()> then);

  kept_state& kept() { return kept_; }
  const kept_state& kept() const { return kept_; }

private:
  void keep(const hosted_share& share, const member_state& state);

  agent_actor::pointer self_;
  const hosted_shares& shares_;
  std::shared_ptr<spdlog::logger> log_;
  request_watch requests_;
  kept_state kept_;
};

} // namespace graphmill
