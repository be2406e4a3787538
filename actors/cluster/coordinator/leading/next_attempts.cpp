#include "actors/cluster/coordinator/leading/next_attempts.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/leading/kept_search.hpp"
#include "actors/cluster/coordinator/leading/run_places.hpp"
#include "actors/cluster/coordinator/leading/run_queue.hpp"
#include "actors/cluster/coordinator/leading/run_starter.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/members/lead_guard.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "actors/cluster/coordinator/records/run_watchers.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"
#include "actors/cluster/coordinator/runs/run_filing.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "actors/cluster/health/health_keeper.hpp"
#include "actors/cluster/history/state_lock.hpp"
#include "messages/base/pluralized.hpp"
#include "messages/words/enumerated.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// Says how long a run that has ended an attempt waits to have as many trainers
/// again.
void wait_for_trainers(submitted_run& run) {
  run.wait.trainers_before = 0;
  run.wait.shrink_at = {};
  if (run.life.has_paused() || !run.def.trainer.is_open())
    return;
  run.wait.trainers_before = run.trainers();
  // It is not to give up before.
  const auto now = attempt_wait::clock::now();
  run.wait.shrink_at =
    now
    + std::min<attempt_wait::clock::duration>(timeouts::trainer_returns,
                                              run.recovery.left_at(now) / 2);
}

/// The last lines of metrics.jsonl as watchers of the run get them.
std::vector<run_news> news_in(const run_file& file) {
  std::vector<run_news> out;
  for (auto& line : file.last_lines(run_board::most_news))
    out.push_back({.metrics = std::move(line)});
  return out;
}

} // namespace

std::string place_name(const course_position& at) {
  return fmt::format("epoch {}, step {}", at.epoch + 1, at.step + 1);
}

next_attempts::next_attempts(const leading_parts& with, run_queue& queue,
                             run_starter& starter, const run_places& places,
                             go_on_hook go_on)
  : with_(with), queue_(queue), starter_(starter), places_(places),
    go_on_(std::move(go_on)) {
  // nop
}

void next_attempts::seat(submitted_run& run, placement where) {
  run.on.where = std::move(where);
  auto names = names_of(run.on.where);
  run.on.health.begin(run.id, {names.begin(), names.end()}, run.attempts,
                      run.trainers());
  for (const auto trains : run.on.where.daemon_of_rank)
    run.holders.insert(run.on.where.daemons[trains].name);
  names.insert(run.holders.begin(), run.holders.end());
  names.erase(with_.port.self().name); // The next one has its own.
  with_.archive.note(run.record, run.standing({names.begin(), names.end()}));
}

// -- the end of an attempt

void next_attempts::collect(const run_ptr& run) {
  if (run->life.has_paused()) {
    pause(run);
    return;
  }
  const auto reason = *run->life.failure();
  if (auto last = run->recovery.broken(reason, run->on.reached,
                                       attempt_wait::clock::now())) {
    go_on_(run, run->life.give_up(*std::move(last)));
    return;
  }
  const auto says =
    fmt::format("attempt {} has ended: {}", run->attempts, reason.message);
  with_.notices.log_of(run->id)->warn("run {}: {}", run->id, says);
  with_.notices.event(event_kind::warning, {}, says, run->id);
  run->file->note(says);
  kept_search::begin(
    with_, run, [this](const run_ptr& on, std::optional<training_state> found) {
      if (found)
        on->from = std::move(found);
      go_on_(on, on->life.collected());
    });
}

/// It has ended in order, with all that the next attempt needs.
void next_attempts::pause(const run_ptr& run) {
  const auto& at = run->from->at;
  const auto says = fmt::format(
    "attempt {} has paused after {} and {} of the next one", run->attempts,
    pluralized(at.epoch, "epoch"), pluralized(at.step, "step"));
  with_.notices.log_of(run->id)->info("run {}: {}", run->id, says);
  run->file->note(says);
  // Nothing begins in its place meanwhile.
  run->recovery.paused(*run->life.failure(), {at.epoch, at.step},
                       attempt_wait::clock::now());
  go_on_(run, run->life.collected());
}

/// Before those that have not begun. Until the run is in the queue, all this
/// can be repeated.
void next_attempts::wait(const run_ptr& run) {
  const auto next = run->attempts + 1;
  wait_for_trainers(*run);
  run->record.state = run_state::queued;
  run->record.ended = {};
  run->record.message =
    fmt::format("waits for attempt {}{}", next,
                run->life.has_paused() ? ", with other trainers" : "");
  queue_.put_back(run);
  with_.active.remove(run);
  run->spent = run->on.seconds;
  run->attempts = next;
  run->on = {};
  // A daemon that fails again and again is not deployed on without a pause.
  if (const auto pause = run->recovery.pause(); pause.count() != 0)
    run->wait.not_before = attempt_wait::clock::now() + pause;
  with_.archive.note(run->record,
                     run->standing(run->holders_but(with_.port.self().name)));
  with_.daemons.let_leavers_go(); // They need not stay for the next attempt.
  starter_.start();
}

// -- the begin of the next one

/// Daemons that were out of reach may have its state.
void next_attempts::rewind(const run_ptr& run) {
  if (run->from) {
    rewind_folder(run);
    return;
  }
  kept_search::begin(
    with_, run, [this](const run_ptr& on, std::optional<training_state> found) {
      on->from = std::move(found);
      if (!on->life.is_over())
        rewind_folder(on);
    });
}

void next_attempts::rewind_folder(const run_ptr& run) {
  run->last_begun = run->attempts; // Its folder notes its trainers.
  run_file::next_attempt next{
    run->attempts, std::exchange(run->spent, 0), run->trainers(),
    with_.notices.outlets_of(run->id), !run->from_run.empty()};
  with_.port.work<rewound_files>(
    cluster_port::lane::files,
    [lock = with_.config.lock, file = run->file, from = run->from,
     def = run->def, is_known = with_.watchers.board().knows(run->id),
     next = std::move(next)]() -> result<rewound_files> {
      GRAPHMILL_TRYV(lock->check()); // Else the folder is another one's.
      GRAPHMILL_TRY(auto from, file->go_back(from, def, next));
      return rewound_files{std::move(from),
                           is_known ? std::vector<run_news>{} : news_in(*file)};
    },
    [this, id = run->id, attempt = run->attempts](result<rewound_files> files) {
      if (const auto on = with_.active.find(id, attempt))
        rewound(on, std::move(files));
    });
}

void next_attempts::rewound(const run_ptr& run, result<rewound_files> files) {
  if (run->life.now() != attempt::state::rewinding)
    return;
  if (!files) {
    if (with_.lead.gives_way(files.error()))
      return;
    auto reason = std::move(files).error();
    if (reason.code == ec::no_space) // There may be room at the next attempt.
      reason.code = ec::unavailable;
    go_on_(run, run->fail_run(std::move(reason)));
    return;
  }
  run->from = std::move(files.value().from);
  with_.watchers.board().recall(run->id, std::move(files.value().before));
  if (!has_seats(run))
    return;
  report_begin(*run);
  go_on_(run, run->life.rewound());
}

/// It has turned out where the next attempt begins: `trainer.sizes` may have
/// another number of trainers there than those that were placed.
/// @returns false if there is no room for them.
bool next_attempts::has_seats(const run_ptr& run) {
  const auto size = size_at(run->def, run->point());
  if (!size || *size == run->trainers())
    return true;
  auto where = places_.beside(run->wanted(), *run);
  if (!where) {
    go_on_(run,
           run->fail_run(fail(ec::unavailable, "{}", where.error().message)));
    return false;
  }
  run->life.seat(names_of(where.value()));
  seat(*run, std::move(where).value());
  return true;
}

void next_attempts::report_begin(submitted_run& run) {
  std::vector<std::string> names;
  for (const auto& daemon : run.on.where.daemons)
    names.push_back(daemon.name);
  const auto says =
    fmt::format("attempt {} goes on from {}; daemons {}", run.attempts,
                run.from ? place_name(run.from->at) : "the beginning",
                enumerated(names))
    + (run.def.trainer.is_elastic()
         ? fmt::format("; {}", pluralized(run.trainers(), "trainer"))
         : std::string{});
  with_.notices.log_of(run.id)->info("run {}: {}", run.id, says);
  with_.notices.event(event_kind::recovered, {}, says, run.id);
  run.file->note(says);
  run.record.message = says;
  report_sizes(run);
  with_.archive.note(run.record);
}

void next_attempts::report_sizes(submitted_run& run) {
  const auto& sizes = run.file->sizes();
  if (sizes.empty())
    return;
  run.record.summary = nlohmann::json{{"sizes", sizes_json(sizes)}}.dump();
  with_.archive.note(run.record);
}

} // namespace graphmill
