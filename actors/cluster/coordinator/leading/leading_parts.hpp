#pragma once

#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/members/lead_guard.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/records/run_watchers.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"

#include <string>

namespace graphmill {

/// What those who lead runs share. The COORDINATOR owns all of it.
struct leading_parts {
  const coordinator_config& config;
  cluster_port& port;
  cluster_notices& notices;
  lead_guard& lead;
  cluster_daemons& daemons;
  run_archive& archive;
  run_watchers& watchers;
  active_runs& active;
};

/// For people: the step that comes next.
std::string place_name(const course_position& at);

} // namespace graphmill
