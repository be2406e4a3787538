#pragma once

#include "actors/cluster/coordinator/runs/run_ptr.hpp"

#include <string>

namespace graphmill {

class active_runs;
class cluster_daemons;
class cluster_notices;
class cluster_port;
class lead_guard;
class run_archive;
class run_watchers;
struct coordinator_config;
struct course_position;

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
