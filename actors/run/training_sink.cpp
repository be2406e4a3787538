#include "actors/run/training_sink.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/stages/training/gradient_group.hpp"
#include "actors/stages/training/late_group.hpp"
#include "actors/stages/training/trainer.hpp"

namespace graphmill {

namespace {

/// The group of every trainer here: one for all of them if the run has no
/// others.
std::vector<gradient_group_actor> spawn_groups(caf::actor_system& system,
                                               const member_config& config,
                                               const stage_table& stages) {
  std::vector<gradient_group_actor> out;
  if (!config.ranks.empty() && !config.access.group)
    out.push_back(spawn_gradient_group(
      system, {config.world, stages[stage_kind::gradient_group],
               config.health->add({actor_kind::gradient_group})}));
  else
    for (auto rank : config.ranks)
      out.push_back(config.access.group(system, rank));
  if (const auto delay = config.def.faults.exchange_delay_ms; delay != 0)
    for (auto& group : out)
      group = spawn_late_group(system, std::move(group),
                               std::chrono::milliseconds{delay});
  return out;
}

std::vector<trainer_actor>
spawn_trainers(caf::actor_system& system, const member_config& config,
               const stage_table& stages,
               const std::vector<gradient_group_actor>& groups,
               const run_reports_actor& conductor) {
  std::vector<trainer_actor> out;
  for (std::size_t i = 0; i < config.ranks.size(); ++i) {
    trainer_config trainer;
    trainer.rank = config.ranks[i];
    trainer.run_seed = config.def.seed;
    trainer.model = config.models[i];
    trainer.group = groups.size() == 1 ? groups.front() : groups[i];
    trainer.conductor = conductor;
    // Ranks of other processes are exchanged with while backward goes on.
    trainer.early = static_cast<bool>(config.access.group);
    trainer.group_timeout =
      std::chrono::seconds{config.def.trainer.step_timeout};
    if (trainer.early)
      trainer.group_timeout += timeouts::waiting_stage;
    trainer.counters = stages[stage_kind::trainer];
    trainer.gauge =
      config.health->add({actor_kind::trainer, -1, config.ranks[i]});
    out.push_back(spawn_trainer(system, std::move(trainer)));
  }
  return out;
}

} // namespace

batch_sink spawn_training_sink(caf::actor_system& system,
                               const member_config& config,
                               const stage_table& stages,
                               const run_reports_actor& conductor) {
  batch_sink out;
  out.groups = spawn_groups(system, config, stages);
  out.trainers = spawn_trainers(system, config, stages, out.groups, conductor);
  return out;
}

} // namespace graphmill
