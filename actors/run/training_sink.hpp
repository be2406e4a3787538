#pragma once

#include "actors/run/member/member.hpp"

namespace graphmill {

/// The trainers of a member's models, and their gradient groups: one group for
/// all if the run has no other ranks, else one for each rank.
batch_sink spawn_training_sink(caf::actor_system& system,
                               const member_config& config,
                               const stage_table& stages,
                               const run_reports_actor& conductor);

} // namespace graphmill
