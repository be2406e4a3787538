#pragma once

#include "actors/cluster/base/interfaces.hpp"
#include "messages/wire/run.hpp"

#include <memory>
#include <string>

namespace graphmill {

struct remote_member_config {
  std::string run;
  daemon_address daemon;
  std::shared_ptr<transport> net;
};

/// Spawns what stands for a MEMBER of a run on another daemon. Orders that the
/// daemon does not answer are told to `conductor` as failures of the run.
member_actor spawn_remote_member(caf::actor_system& system,
                                 remote_member_config config,
                                 run_reports_actor conductor);

} // namespace graphmill
