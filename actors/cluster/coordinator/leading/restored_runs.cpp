#include "actors/cluster/coordinator/leading/restored_runs.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/leading/new_run.hpp"
#include "actors/cluster/coordinator/leading/run_checks.hpp"
#include "actors/cluster/coordinator/leading/run_queue.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "actors/cluster/history/run_history.hpp"
#include "pipelines/definition/definition_file.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

namespace graphmill {

namespace {

/// Brings a run back to where it stood in the queue. One that was on goes on
/// with its next attempt as if it had lost a daemon.
result<void> restore(const coordinator_config& config, submitted_run& run,
                     const std::string& yaml,
                     const std::shared_ptr<void>& resumed_place) {
  auto source = parse_record(yaml);
  if (!source.problems.empty())
    return to_error(source.problems);
  run.def = std::move(source.value);
  GRAPHMILL_TRYV(check_taken(run.def, config));
  GRAPHMILL_TRY(run.file, run_file::reopen(config.runs, run.id));
  run.view = learnt_view{config.graph};
  if (trains_nothing(run.def)) { // Its folder has what its weights have learnt.
    GRAPHMILL_TRY(run.view, view_by(run.def, run.file->learnt(), config.graph,
                                    config.data));
  }
  GRAPHMILL_TRYV(check_view(run));
  run.recovery = run_recovery{run.def.recovery};
  if (run.attempts > 1) {
    if (run.recovery.is_wanted()) {
      run.recovery.left(
        fail(ec::unavailable, "the coordinator was started anew"),
        std::chrono::steady_clock::now());
      run.life = attempt{attempt::state::waiting};
    }
    GRAPHMILL_TRYV(check_dataset(config, run.file->dataset_digest()));
    if (run.from_run.empty() || run.file->has_checkpoints())
      return ok(); // From where it goes on is found when it is placed.
  }
  if (run.from_run.empty())
    return run.file->begin_anew(run.def);
  GRAPHMILL_TRY(auto before, checkpoint_of(config.runs, {run.from_run,
                                                         run.from_checkpoint}));
  GRAPHMILL_TRYV(check_dataset(config, before.dataset_digest));
  GRAPHMILL_TRYV(run.file->go_on_from(before, run.def));
  run.from = std::move(before.state);
  run.resumed_place = resumed_place;
  return ok();
}

/// What the history says of a run.
std::shared_ptr<submitted_run> run_in(open_run left, std::int64_t place,
                                      const std::string& self) {
  const auto out = std::make_shared<submitted_run>();
  out->attempts = left.next_attempt();
  out->last_begun = std::max(1U, out->attempts - 1);
  out->id = left.record.id;
  out->record = std::move(left.record);
  out->home = std::move(left.standing.home);
  out->from_run = std::move(left.standing.from_run);
  out->from_checkpoint = std::move(left.standing.checkpoint);
  out->place = place;
  if (out->attempts > 1) {
    out->holders.insert(left.standing.daemons.begin(),
                        left.standing.daemons.end());
    out->holders.insert(self);
  }
  return out;
}

void fail_restored(const leading_parts& with, submitted_run& run,
                   const error& reason) {
  auto why = fmt::format("the coordinator was started anew and cannot go on "
                         "with it: {}",
                         reason.message);
  with.notices.log_of(run.id)->warn("run {}: {}", run.id, why);
  close_record(with, run, run_state::failed, std::move(why));
}

/// A run that was on waits for the daemons that it was on.
void await_return(const leading_parts& with, submitted_run& run,
                  const std::vector<std::string>& daemons) {
  const auto& self = with.port.self().name;
  run.wait.returning.insert(self);
  run.wait.returning.insert(daemons.begin(), daemons.end());
  run.wait.return_until =
    std::chrono::steady_clock::now() + timeouts::daemons_return;
  run.record.state = run_state::queued;
  run.record.ended = {};
  run.record.message = fmt::format(
    "waits for attempt {}, as the coordinator was started anew", run.attempts);
  with.notices.log_of(run.id)->info("run {}: {}", run.id, run.record.message);
  with.archive.note(run.record, run.standing(run.holders_but(self)));
}

} // namespace

void restore_runs(const leading_parts& with, run_queue& queue,
                  const std::shared_ptr<void>& resumed_place) {
  auto open = with.config.history->take_open_runs();
  auto front = std::int64_t{0};
  for (const auto& left : open)
    front = std::min(front, left.standing.place);
  front -= std::ranges::count_if(open, &open_run::was_on);
  for (auto& left : open) {
    const auto was_on = left.was_on();
    const auto yaml = std::move(left.definition);
    const auto daemons = left.standing.daemons;
    const auto place = was_on ? front++ : left.standing.place;
    const auto run = run_in(std::move(left), place, with.port.self().name);
    with.archive.add(run->record);
    if (auto restored = restore(with.config, *run, yaml, resumed_place);
        !restored) {
      fail_restored(with, *run, restored.error());
      continue;
    }
    if (was_on)
      await_return(with, *run, daemons);
    else
      with.notices.log_of(run->id)->info("run {} is queued still", run->id);
    queue.add(run);
  }
}

} // namespace graphmill
