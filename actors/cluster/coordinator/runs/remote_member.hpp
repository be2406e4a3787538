#pragma once

#include "actors/cluster/base/interfaces.hpp"
#include "messages/wire/run.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace graphmill {

struct remote_member_config {
  std::string run;
  daemon_address daemon;
  std::shared_ptr<transport> net;
  std::uint32_t attempt = 1;     ///< Of the run.
  std::uint64_t most_values = 0; ///< Of all tensors that it may tell of.
  /// The daemon says that another coordinator leads the cluster: whether that
  /// is so is not known here. Called by the actor.
  std::function<void(const error&)> on_superseded{};
};

/// Spawns an actor that stands for the MEMBER of a run on another daemon. If
/// the daemon does not answer an order, `conductor` is told that the run
/// failed.
member_actor spawn_remote_member(caf::actor_system& system,
                                 remote_member_config config,
                                 run_reports_actor conductor);

} // namespace graphmill
