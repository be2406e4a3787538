#pragma once

#include "actors/base/interfaces.hpp"

#include <functional>
#include <vector>

namespace graphmill {

struct member_config;
struct stage_table;

/// The actors that take the batches of a member: its trainers, or outlets that
/// hand batches to other consumers.
struct batch_sink {
  std::vector<trainer_actor> trainers; ///< One for each rank, in their order.
  std::vector<gradient_group_actor> groups; ///< Each once; outlets have none.
};

/// Spawns the sink of a member. @param conductor Gets its reports.
using sink_factory = std::function<batch_sink(
  caf::actor_system&, const member_config&, const stage_table&,
  const run_reports_actor& conductor)>;

} // namespace graphmill
