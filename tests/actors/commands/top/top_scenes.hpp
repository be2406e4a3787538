#pragma once

#include "actors/commands/top/top_model.hpp"

#include <string>
#include <vector>

namespace graphmill::test {

/// What `graphmill top` was told of a cluster in some state.
struct top_scene {
  std::string name; ///< Of the state: "starved".
  top_data data;
};

/// Three daemons, and a run in each state that a user must tell apart: idle,
/// training, starved, lost, recovering, finished, failed.
std::vector<top_scene> top_scenes();

} // namespace graphmill::test
