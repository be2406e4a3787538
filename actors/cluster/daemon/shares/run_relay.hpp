#pragma once

#include "actors/cluster/base/interfaces.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace graphmill {

struct run_relay_config {
  std::string run;
  std::string coordinator; ///< Address.
  std::shared_ptr<transport> net;
  agent_actor agent;         ///< Told when nobody takes the events.
  std::uint32_t attempt = 1; ///< Of the run.
  /// What is told of rows are the outputs of their ends, and not logits.
  bool outputs = false;
  /// Called once when the member has failed, before the coordinator knows; may
  /// be empty.
  std::function<void()> failed;
};

/// Spawns the RUN RELAY, which stands for the CONDUCTOR towards the MEMBER of a
/// daemon. It sends what it is told to the coordinator, in order and without
/// loss, one message at a time; what comes meanwhile goes into the next one.
run_reports_actor spawn_run_relay(caf::actor_system& system,
                                  run_relay_config config);

} // namespace graphmill
