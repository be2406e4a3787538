#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/cluster/coordinator/runs/remote_member.hpp"
#include "actors/run/member_setup.hpp"
#include "messages/base/pluralized.hpp"
#include "pipelines/model/state_shapes.hpp"

#include <fmt/ranges.h>

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

/// Carries out what the turn of the run has the coordinator do now.
void coordinator::go_on(run_turn::task next) {
  using task = run_turn::task;
  if (superseded_) // The run is the other coordinator's.
    return;
  switch (next) {
  case task::none:
  case task::tell_conductor: // The run has done so itself.
    break;
  case task::conduct:
    conduct();
    break;
  case task::end_shares:
    end();
    break;
  case task::hurry_shares:
    end_shares(member_action::end);
    break;
  case task::file:
    close();
    break;
  }
}

void coordinator::deploy() {
  const auto& daemons = active_->where.daemons;
  active_->is_deployed = true;
  run_log()->info("run {}: deploying on {}", active_->id,
                  pluralized(daemons.size(), "daemon"));
  std::vector<std::string> keys;
  for (const auto& daemon : daemons)
    if (config_.watch)
      keys.push_back(key_of(daemon.name));
  for (std::size_t d = 0; d < daemons.size(); ++d) {
    auto share = active_->deployment_for(d, config_.offer.dataset_digest,
                                         calls_.net().self().address);
    share.daemon_keys = keys;
    ask_daemon(daemons[d], method::deploy, encode(share),
               within(timeouts::deployment, timeouts::question, 1),
               [this, id = active_->id, attempt = active_->attempt,
                daemon = daemons[d].name](const result<payload>& answer) {
                 if (active_ && active_->is(id, attempt))
                   on_deployed(daemon, answer);
               });
  }
}

void coordinator::on_deployed(const std::string& daemon,
                              const result<payload>& answer) {
  if (config_.audit) {
    audit_entry entry;
    entry.who = calls_.net().self().name;
    entry.what = "deploy";
    entry.object = fmt::format("{} on {}", active_->id, daemon);
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
  go_on(active_->turn.deployed(daemon, std::move(why_not)));
}

void coordinator::conduct() {
  const auto setup = setup_of(*active_);
  const auto& where = active_->where;
  auto lead = conductor_of(setup, *config_.graph,
                           static_cast<rank_id>(where.daemon_of_rank.size()));
  std::vector<remote_member_config> members;
  for (std::uint16_t d = 0; d < where.daemons.size(); ++d)
    if (!where.ranks_of(d).empty()) {
      members.push_back({active_->id, where.daemons[d], config_.net,
                         active_->attempt,
                         most_state_values(active_->def, config_.graph->info()),
                         [me = handle_of<interface>(self_),
                          daemon = where.daemons[d]](const error& said) {
                           post(me, successor_named{daemon, said});
                         }});
      active_->members.push_back(where.daemons[d].name);
    }
  lead.members = [members](caf::actor_system& system,
                           const run_reports_actor& reports) {
    std::vector<member_actor> out;
    for (const auto& member : members)
      out.push_back(spawn_remote_member(system, member, reports));
    return out;
  };
  lead.observer = observer_of(*active_, handle_of<interface>(self_));
  const auto progress = std::make_shared<progress_gauge>(
    active_->def, lead.seeds[static_cast<std::size_t>(phase::train)],
    active_->file->before());
  run_file::keep_checkpoints(
    active_->file, lead.observer, active_->def,
    static_cast<rank_id>(where.daemon_of_rank.size()),
    config_.graph->part_count(),
    [progress, tell = checkpoint_teller()](const std::string& name) {
      progress->wrote_checkpoint();
      if (tell)
        tell(name);
    });
  progress_gauge::observe(progress, lead.observer);
  if (setup.def.evaluate.predict)
    active_->file->keep_predictions(
      lead.observer,
      prediction_shape::of(setup.def, config_.graph->info(), lead.ranks));
  if (setup.mode == run_mode::evaluate_together)
    run_file::keep_evaluation(active_->file, lead.observer,
                              setup.def.evaluate.only);
  active_->began = clock::now();
  health_.led(progress, active_->began);
  health_.follow(lead.observer, calls_.net().self().name);
  active_->conductor = spawn_conductor(self_->home_system(), std::move(lead));
  active_->is_led = true;
  deaths_.watch(self_, active_->conductor,
                [this, id = active_->id,
                 attempt = active_->attempt](const caf::error& reason) {
                  if (active_ && active_->is(id, attempt))
                    conductor_gone(from_caf(reason, "the conductor"));
                });
  post(active_->conductor, start_run{});
  run_log()->info("run {}: begun", active_->id);
  grow(); // Somebody may have come meanwhile.
}

/// It has ended, unasked or as it was told.
void coordinator::conductor_gone(const error& reason) {
  active_->is_led = false;
  if (std::exchange(active_->closes_unled, false))
    close();
  else
    go_on(active_->turn.conducted(reason));
}

void coordinator::on_ended(const run_ended& ended) {
  if (!active_ || !active_->is(ended.run, ended.attempt)
      || active_->turn.is_over())
    return;
  active_->outcome = std::move(*ended.outcome);
  if (auto state = std::exchange(active_->outcome.paused, std::nullopt)) {
    pause(*std::move(state));
    return;
  }
  go_on(active_->turn.conducted(active_->outcome.failure));
}

void coordinator::end() {
  active_->record.ended = now_unix();
  active_->seconds =
    active_->spent
    + std::chrono::duration<double>(clock::now() - active_->began).count();
  stop_actor(active_->conductor);
  active_->conductor = nullptr;
  end_shares(active_->turn.again()     ? member_action::keep
             : active_->turn.failure() ? member_action::end
                                       : member_action::finish);
  // If all daemons are lost, no answer will bring the run on.
  go_on(active_->turn.ordered_to_end());
}

void coordinator::end_shares(member_action how) {
  const auto patience =
    how == member_action::finish ? timeouts::unbounded : timeouts::share_end;
  member_request order{active_->id, how};
  order.attempt = active_->attempt;
  // To those that are lost, too: they may hear it, but need not answer.
  for (const auto& daemon : active_->where.daemons)
    ask_daemon(daemon, method::order, encode(order),
               within(patience, timeouts::question_unreachable),
               [this, id = active_->id, attempt = active_->attempt,
                daemon = daemon.name](const result<payload>& answer) {
                 if (active_ && active_->is(id, attempt))
                   on_share_ended(daemon, answer);
               });
}

void coordinator::on_share_ended(const std::string& daemon,
                                 const result<payload>& answer) {
  if (!active_->turn.awaits(daemon))
    return;
  auto report = answer ? decode_member_reply(answer.value())
                       : result<member_reply>{answer.error()};
  if (report) {
    active_->file->add(daemon, report.value().work);
    distrust(report.value().distrusted, daemon);
  } else {
    run_log()->warn("run {}: daemon {} did not end its share: {}", active_->id,
                    daemon, report.error().message);
  }
  std::optional<error> failure;
  if (!report)
    failure = unverified(daemon, report.error());
  else if (const auto& reason = report.value().failure; !reason.empty())
    failure = fail(ec::invalid_data, "daemon \"{}\": {}", daemon, reason);
  go_on(active_->turn.share_ended(daemon, std::move(failure)));
}

void coordinator::let_leavers_go() {
  for (const auto& leaver : std::exchange(active_->leaving, {})) {
    let_go(leaver.daemon, leaver.incarnation);
    leaver.reply.reply(payload{});
  }
}

/// Files what is left of the run, unless it is attempted again. Waits for the
/// end of its conductor, which uses the run's files.
void coordinator::close() {
  active_->end_rendezvous();
  active_->closes_unled = active_->is_led;
  if (active_->is_led)
    return;
  if (active_->turn.again()) {
    recover();
    return;
  }
  let_leavers_go();
  active_->outcome.failure = active_->turn.failure();
  active_->file->tell(health_.whole());
  // Of a run that could have been attempted again, if somebody had come.
  const auto& failure = active_->turn.failure();
  const auto can_be_resumed =
    failure
    && (failure->code == ec::unavailable || failure->code == ec::timeout
        || failure->code == ec::no_space || failure->code == ec::permission
        || failure->code == ec::io);
  // What an attempt has left for the next one has no other place.
  const auto leaves = active_->paused || active_->attempt > 1;
  thread_.post(
    [me = handle_of<interface>(self_), lock = config_.lock,
     file = active_->file, outcome = active_->outcome,
     cancelled = active_->turn.cancelled(), seconds = active_->seconds,
     can_be_resumed, leaves, from = active_->from, def = active_->def,
     parts = config_.graph->part_count()]() mutable {
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
    [me = handle_of<interface>(self_), id = active_->id](const error& reason) {
      run_record lost;
      lost.id = lost.name = id;
      lost.state = run_state::failed;
      lost.message =
        fmt::format("what is left of the run is not filed: {}", reason.message);
      post(me, run_filed{std::move(lost)});
    });
}

void coordinator::on_filed(const run_filed& filed) {
  if (!active_ || active_->id != filed.record.id)
    return;
  auto record = active_->record;
  record.state = filed.record.state;
  auto story = active_->losses;
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
  active_.reset();
  note(record);
  start_next();
  end_if_done();
}

} // namespace graphmill
