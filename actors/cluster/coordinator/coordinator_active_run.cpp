#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/cluster/coordinator/runs/remote_member.hpp"
#include "actors/run/member_setup.hpp"
#include "messages/base/pluralized.hpp"
#include "pipelines/model/state_shapes.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

namespace graphmill {

namespace {

/// What the conductor of an attempt is to do.
run_setup setup_of(const active_run& run) {
  auto out = cluster_setup(sized(run.def, run.trainers()));
  out.pause_at = next_change(run.def, run.point());
  out.from = run.from; // Which may be needed once more.
  return out;
}

} // namespace

/// Carries out what the turn of a run has the coordinator do now.
void coordinator::go_on(const run_ptr& run, run_turn::task next) {
  using task = run_turn::task;
  if (superseded_) // The run is the other coordinator's.
    return;
  switch (next) {
  case task::none:
  case task::tell_conductor: // The run has done so itself.
    break;
  case task::conduct:
    conduct(run);
    break;
  case task::end_shares:
    end(run);
    break;
  case task::hurry_shares:
    end_shares(run, member_action::end);
    break;
  case task::file:
    close(run);
    break;
  }
}

void coordinator::deploy(const run_ptr& run) {
  const auto& daemons = run->where.daemons;
  run->is_deployed = true;
  log_of(run->id)->info("run {}: deploying on {}", run->id,
                        pluralized(daemons.size(), "daemon"));
  std::vector<std::string> keys;
  for (const auto& daemon : daemons)
    if (config_.watch)
      keys.push_back(key_of(daemon.name));
  for (std::size_t d = 0; d < daemons.size(); ++d) {
    auto share = run->deployment_for(d, config_.offer.dataset_digest,
                                     calls_.net().self().address);
    share.daemon_keys = keys;
    share.beside = names_beside(*run);
    share.runs_at_once = config_.runs_at_once;
    ask_daemon(daemons[d], method::deploy, encode(share),
               within(timeouts::deployment, timeouts::question, 1),
               [this, id = run->id, attempt = run->attempt,
                daemon = daemons[d].name](const result<payload>& answer) {
                 if (const auto on = active_.find(id, attempt))
                   on_deployed(on, daemon, answer);
               });
  }
}

void coordinator::on_deployed(const run_ptr& run, const std::string& daemon,
                              const result<payload>& answer) {
  if (config_.audit) {
    audit_entry entry;
    entry.who = calls_.net().self().name;
    entry.what = "deploy";
    entry.object = fmt::format("{} on {}", run->id, daemon);
    entry.done = static_cast<bool>(answer);
    if (!answer) {
      entry.why = answer.error().message;
      entry.code = to_string(answer.error().code);
    }
    config_.audit->add(std::move(entry));
  }
  std::optional<error> why_not;
  if (!answer)
    why_not = fail(answer.error().code, "daemon \"{}\": {}", daemon,
                   answer.error().message);
  go_on(run, run->turn.deployed(daemon, std::move(why_not)));
}

void coordinator::conduct(const run_ptr& run) {
  const auto setup = setup_of(*run);
  const auto& where = run->where;
  auto lead = conductor_of(setup, *run->view.graph,
                           static_cast<rank_id>(where.daemon_of_rank.size()));
  std::vector<remote_member_config> members;
  for (std::uint16_t d = 0; d < where.daemons.size(); ++d)
    if (!where.ranks_of(d).empty()) {
      members.push_back({run->id, where.daemons[d], config_.net, run->attempt,
                         most_state_values(run->def, run->view.graph->info()),
                         [me = handle_of<interface>(self_),
                          daemon = where.daemons[d]](const error& said) {
                           post(me, successor_named{daemon, said});
                         }});
      run->members.push_back(where.daemons[d].name);
    }
  lead.members = [members](caf::actor_system& system,
                           const run_reports_actor& reports) {
    std::vector<member_actor> out;
    for (const auto& member : members)
      out.push_back(spawn_remote_member(system, member, reports));
    return out;
  };
  lead.observer = observer_of(*run, handle_of<interface>(self_));
  const auto progress = std::make_shared<progress_gauge>(
    run->def, lead.seeds[static_cast<std::size_t>(phase::train)],
    run->file->before());
  run_file::keep_checkpoints(
    run->file, lead.observer, run->def,
    static_cast<rank_id>(where.daemon_of_rank.size()),
    config_.graph->part_count(),
    [progress,
     tell = checkpoint_teller(config_.feed, run->id)](const std::string& name) {
      progress->wrote_checkpoint();
      if (tell)
        tell(name);
    });
  progress_gauge::observe(progress, lead.observer);
  if (setup.def.evaluate.predict)
    run->file->keep_predictions(
      lead.observer,
      prediction_shape::of(setup.def, run->view.graph->info(), lead.ranks));
  if (setup.mode == run_mode::evaluate_together)
    run_file::keep_evaluation(run->file, lead.observer,
                              setup.def.evaluate.only);
  run->began = clock::now();
  run->health.led(progress, run->began);
  run->health.follow(lead.observer, calls_.net().self().name);
  run->conductor = spawn_conductor(self_->home_system(), std::move(lead));
  run->is_led = true;
  deaths_.watch(
    self_, run->conductor,
    [this, id = run->id, attempt = run->attempt](const caf::error& reason) {
      if (const auto on = active_.find(id, attempt))
        conductor_gone(on, from_caf(reason, "the conductor"));
    });
  post(run->conductor, start_run{});
  log_of(run->id)->info("run {}: begun", run->id);
  grow(); // Somebody may have come meanwhile.
}

/// It has ended, unasked or as it was told.
void coordinator::conductor_gone(const run_ptr& run, const error& reason) {
  run->is_led = false;
  if (std::exchange(run->closes_unled, false))
    close(run);
  else
    go_on(run, run->turn.conducted(reason));
}

void coordinator::on_ended(const run_ended& ended) {
  const auto run = active_.find(ended.run, ended.attempt);
  if (!run || run->turn.is_over())
    return;
  run->outcome = std::move(*ended.outcome);
  if (auto state = std::exchange(run->outcome.paused, std::nullopt)) {
    pause(run, *std::move(state));
    return;
  }
  go_on(run, run->turn.conducted(run->outcome.failure));
}

void coordinator::end(const run_ptr& run) {
  run->record.ended = now_unix();
  run->seconds =
    run->spent
    + std::chrono::duration<double>(clock::now() - run->began).count();
  stop_actor(run->conductor);
  run->conductor = nullptr;
  end_shares(run, run->turn.again()     ? member_action::keep
                  : run->turn.failure() ? member_action::end
                                        : member_action::finish);
  // If all daemons are lost, no answer will bring the run on.
  go_on(run, run->turn.ordered_to_end());
}

void coordinator::end_shares(const run_ptr& run, member_action how) {
  const auto patience =
    how == member_action::finish ? timeouts::unbounded : timeouts::share_end;
  member_request order{run->id, how};
  order.attempt = run->attempt;
  // To those that are lost, too: they may hear it, but need not answer.
  for (const auto& daemon : run->where.daemons)
    ask_daemon(daemon, method::order, encode(order),
               within(patience, timeouts::question_unreachable),
               [this, id = run->id, attempt = run->attempt,
                daemon = daemon.name](const result<payload>& answer) {
                 if (const auto on = active_.find(id, attempt))
                   on_share_ended(on, daemon, answer);
               });
}

void coordinator::on_share_ended(const run_ptr& run, const std::string& daemon,
                                 const result<payload>& answer) {
  if (!run->turn.awaits(daemon))
    return;
  auto report = answer ? decode_member_reply(answer.value())
                       : result<member_reply>{answer.error()};
  if (report) {
    run->file->add(daemon, report.value().work);
    distrust(*run, report.value().distrusted, daemon);
  } else {
    log_of(run->id)->warn("run {}: daemon {} did not end its share: {}",
                          run->id, daemon, report.error().message);
  }
  std::optional<error> failure;
  if (!report)
    failure = unverified(daemon, report.error());
  else if (const auto& reason = report.value().failure; !reason.empty())
    failure = fail(ec::invalid_data, "daemon \"{}\": {}", daemon, reason);
  go_on(run, run->turn.share_ended(daemon, std::move(failure)));
}

/// Of those that have asked to leave, the ones that no run needs any more.
void coordinator::let_leavers_go() {
  const auto first_to_go = std::stable_partition(
    leaving_.begin(), leaving_.end(), [this](const farewell& leaver) {
      return active_.first([&leaver](const active_run& run) {
        return run.needs(leaver.daemon);
      }) != nullptr;
    });
  const std::vector<farewell> going(first_to_go, leaving_.end());
  leaving_.erase(first_to_go, leaving_.end());
  for (const auto& leaver : going) {
    let_go(leaver.daemon, leaver.incarnation);
    leaver.reply.reply(payload{});
  }
}

/// Files what is left of the run, unless it is attempted again. Waits for the
/// end of its conductor, which uses the run's files.
void coordinator::close(const run_ptr& run) {
  run->end_rendezvous();
  run->closes_unled = run->is_led;
  if (run->is_led)
    return;
  if (run->turn.again()) {
    recover(run);
    return;
  }
  let_leavers_go();
  run->outcome.failure = run->turn.failure();
  run->file->tell(run->health.whole());
  // Of a run that could have been attempted again, if somebody had come.
  const auto& failure = run->turn.failure();
  const auto can_be_resumed =
    failure
    && (failure->code == ec::unavailable || failure->code == ec::timeout
        || failure->code == ec::no_space || failure->code == ec::permission
        || failure->code == ec::io);
  // What an attempt has left for the next one has no other place.
  const auto leaves = run->paused || run->attempt > 1;
  thread_.post(
    [me = handle_of<interface>(self_), lock = config_.lock, file = run->file,
     outcome = run->outcome, cancelled = run->turn.cancelled(),
     seconds = run->seconds, can_be_resumed, leaves, from = run->from,
     def = run->def, parts = config_.graph->part_count()]() mutable {
      if (auto held = lock->check(); !held) { // The folder is another one's.
        post(me, records_written{held.error()});
        return;
      }
      if (leaves && from && !outcome.parameters)
        file->leave(*from, def, parts);
      if (can_be_resumed)
        outcome.failure->message += file->way_on();
      post(me, run_filed{file->close(outcome, cancelled, seconds)});
    },
    [me = handle_of<interface>(self_), id = run->id](const error& reason) {
      run_record lost;
      lost.id = lost.name = id;
      lost.state = run_state::failed;
      lost.message =
        fmt::format("what is left of the run is not filed: {}", reason.message);
      post(me, run_filed{std::move(lost)});
    });
}

void coordinator::on_filed(const run_filed& filed) {
  const auto run = active_.find(filed.record.id);
  if (!run)
    return;
  auto record = run->record;
  record.state = filed.record.state;
  auto story = run->losses;
  if (!filed.record.message.empty())
    story.insert(story.begin(), filed.record.message);
  record.message = fmt::format("{}", fmt::join(story, "; "));
  record.summary = filed.record.summary;
  log_of(record.id)->info("run {}: {}{}{}", record.id, to_string(record.state),
                          record.message.empty() ? "" : ": ", record.message);
  board_.over(record.id);
  // Daemons look at their data then: one whose data are damaged says so before
  // the next run fails for it, too.
  if (record.state == run_state::failed)
    start_at_ = clock::now() + timeouts::after_failure;
  active_.remove(run);
  note(record);
  start_next();
  end_if_done();
}

} // namespace graphmill
