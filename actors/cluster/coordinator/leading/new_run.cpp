#include "actors/cluster/coordinator/leading/new_run.hpp"

#include "actors/cluster/coordinator/leading/leading_parts.hpp"
#include "actors/cluster/coordinator/leading/resumption.hpp"
#include "actors/cluster/coordinator/leading/run_checks.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/outside/coordinator_limits.hpp"
#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "actors/cluster/history/run_history.hpp"
#include "actors/cluster/history/state_lock.hpp"
#include "messages/base/unix_time.hpp"
#include "pipelines/definition/definition_file.hpp"

#include <optional>
#include <utility>

namespace graphmill {

namespace {

/// How the run sees the dataset, by what its weights have learnt.
result<void> set_view(const coordinator_config& config, submitted_run& run,
                      const resumption& from) {
  std::optional<learnt_from> learnt;
  if (from.uploaded) {
    GRAPHMILL_TRY(learnt, from.uploaded->learnt());
  }
  run.view = learnt_view{config.graph};
  if (learnt && !trains_nothing(run.def)) {
    GRAPHMILL_TRYV(
      check_first_weights(run.def, config.graph->info(), config.data, *learnt,
                          "this cluster serves another dataset than the one "
                          "that the run's first weights were trained on"));
  } else if (learnt) {
    GRAPHMILL_TRY(run.view,
                  view_by(run.def, *learnt, config.graph, config.data));
  }
  if (run.view.learnt)
    run.def.labels.clear(); // Which the dataset may not have.
  return check_view(run);
}

result<void> go_on_from(std::optional<checkpoint> before, submitted_run& run,
                        const resumption& from) {
  if (from.wanted.tensorboard)
    GRAPHMILL_TRYV(run.file->keep_events());
  if (!before)
    return ok();
  const auto stays = from.uploaded == nullptr;
  GRAPHMILL_TRYV(run.file->go_on_from(*before, run.def, stays));
  // What was uploaded is a checkpoint of the run's own from here on.
  run.from_run = stays ? from.wanted.run : run.file->id();
  run.from_checkpoint = from.wanted.checkpoint.empty()
                          ? checkpoint_name(before->state.at)
                          : from.wanted.checkpoint;
  run.from = std::move(before->state);
  return ok();
}

result<void> note_new(run_history& history, submitted_run& run,
                      std::string yaml) {
  run.id = run.file->id();
  run.recovery = run_recovery{run.def.recovery};
  run.record.id = run.id;
  run.record.name = run.def.name;
  run.record.submitted = now_unix();
  if (run.is_feed())
    yaml.clear(); // So the next coordinator closes it, and does not go on.
  const run_history::entry first{run.record, std::move(yaml), run.standing()};
  return history.put({&first, 1});
}

} // namespace

result<void> make_run(const coordinator_config& config, submitted_run& run,
                      const resumption& from) {
  GRAPHMILL_TRYV(config.lock->check());
  GRAPHMILL_TRYV(set_view(config, run, from));
  GRAPHMILL_TRY(auto before,
                checkpoint_before(config, *run.view.graph, run.def, from));
  auto yaml = definition_yaml(run.def);
  if (yaml.size() > coordinator_limits::definition_bytes)
    return fail(ec::invalid_argument,
                "the definition has {} bytes as YAML; {} are allowed",
                yaml.size(), coordinator_limits::definition_bytes);
  GRAPHMILL_TRY(auto learnt,
                learnt_on(run.def, run.view.graph->info(), config.data));
  GRAPHMILL_TRY(run.file, run_file::create(config.runs, run.def,
                                           {config.data, std::move(learnt)}));
  auto made = go_on_from(std::move(before), run, from);
  if (made)
    made = note_new(*config.history, run, std::move(yaml));
  if (!made)
    run.file->discard();
  return made;
}

void close_record(const leading_parts& with, submitted_run& run,
                  run_state state, std::string reason) {
  run.record.state = state;
  run.record.message = std::move(reason);
  run.record.ended = now_unix();
  with.archive.note(run.record);
  if (run.is_feed())
    with.port.post(
      cluster_port::lane::files, [file = run.file] { file->discard(); },
      [](const error&) {});
}

} // namespace graphmill
