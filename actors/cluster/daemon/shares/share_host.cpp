#include "actors/cluster/daemon/shares/share_host.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/daemon/shares/agent_config.hpp"
#include "actors/cluster/daemon/shares/hosted_share.hpp"
#include "actors/cluster/daemon/shares/share_keeper.hpp"
#include "actors/cluster/daemon/shares/share_preparation.hpp"
#include "actors/cluster/daemon/shares/share_reports.hpp"
#include "actors/cluster/daemon/shares/share_traces.hpp"
#include "actors/process/logs/log_lines.hpp"
#include "messages/base/caught.hpp"
#include "messages/base/moments.hpp"
#include "pipelines/definition/edge_predictions.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

namespace graphmill {

share_host::share_host(agent_actor::pointer self, const parts& with)
  : self_(self), with_(with) {
  deaths_.install(self_);
}

share_host::~share_host() {
  for (const auto& run : with_.shares.all()) {
    stop_actor(run->member);
    stop_actor(run->relay);
  }
}

std::shared_ptr<spdlog::logger>
share_host::log_of(const std::string& run) const {
  return log_about(with_.config.log, {.run = run});
}

// -- deployment

void share_host::deploy(deployment assignment, const responder& reply) {
  // A run that the coordinator does not name has lost its own one.
  const error reason =
    fail(ec::unavailable, "the coordinator has begun another run, or attempt");
  const auto& beside = assignment.beside;
  with_.next.drop_all(reason, beside);
  for (const auto& share : with_.shares.all()) {
    const auto& id = share->assignment.run;
    if (std::ranges::find(beside, id) != beside.end())
      continue;
    share->dropped = share->dropped || id != assignment.run;
    abandon(share, reason);
  }
  auto open = beside;
  open.push_back(assignment.run);
  with_.keeper.kept().keep_only(open);
  if (with_.shares.contains(assignment.run))
    with_.next.put({std::move(assignment), reply});
  else
    take_up(std::move(assignment), reply);
}

void share_host::take_up(deployment assignment, const responder& reply) {
  // The coordinator has fetched it before, if it wants it.
  with_.keeper.kept().forget(assignment.run);
  auto run = std::make_shared<hosted_share>();
  run->assignment = std::move(assignment);
  run->deployed = reply;
  run->cpu_before = process_cpu_seconds();
  run->sent_before = with_.config.around.net->statistics();
  with_.shares.add(run);
  log_of(run->assignment.run)->info("run {}: preparing", run->assignment.run);
  prepare(run);
}

/// Opens files and builds models on a thread of its own.
void share_host::prepare(const share_ptr& run) {
  const auto tell = [me = handle_of<agent_actor>(self_),
                     id = run->assignment.run](result<member_config> how,
                                               data_guard::records records) {
    post(me, run_prepared{
               id, std::make_shared<result<member_config>>(std::move(how)),
               std::move(records)});
  };
  thread_.post(
    [tell, assignment = run->assignment, takes = with_.config.feeds.open,
     from =
       share_sources{with_.config.data, with_.config.graph,
                     with_.config.around.processors, with_.config.storage}] {
      now_at(moment::start_up);
      data_guard::records records;
      auto opened = takes ? takes(assignment, records)
                          : open_share(assignment, from, records);
      tell(std::move(opened), std::move(records));
    },
    [tell](const error& reason) { tell(reason, {}); });
}

void share_host::begin(const run_prepared& done) {
  const auto found = with_.shares.find(done.run);
  if (!found)
    return;
  const auto& run = found.value();
  auto begun = result<void>{fail(ec::unavailable, "the run is over")};
  if (!*done.member)
    begun = done.member->error();
  else if (!run->life.is_over())
    begun = host(run, std::move(*done.member).value());
  if (begun) {
    run->records = done.records;
  } else {
    log_of(done.run)->warn("run {}: not started: {}", done.run,
                           begun.error().message);
    run->deployed.reply(begun.error());
  }
  go_on(run, run->life.prepared(begun.has_value()));
}

/// Carries out what the life of a share has its host do now.
void share_host::go_on(const share_ptr& run, share_life::task next) {
  using task = share_life::task;
  switch (next) {
  case task::none:
  case task::report: // `member_gone` reports the reason.
  case task::refuse: // `end` replies.
    break;
  case task::verify:
    verify(run);
    break;
  case task::report_data:
    post(run->relay, run_failed{run->life.sound()->error()}); // Ends the share.
    break;
  case task::stop:
    stop_actor(run->member);
    break;
  case task::hurry:
    with_.config.guard->hurry();
    break;
  case task::forget:
    forget(run);
    break;
  }
}

/// A daemon outlives whatever goes wrong here.
result<void> share_host::host(const share_ptr& run, member_config member) {
  try {
    spawn(run, std::move(member));
    return ok();
  } catch (...) {
    return caught("begin the run");
  }
}

void share_host::spawn(const share_ptr& run, member_config member) {
  log_of(run->assignment.run)
    ->info("run {}: {}", run->assignment.run, sentence(member.storage));
  if (!member.storage.oversize.empty() && !member.models.empty())
    log_of(run->assignment.run)
      ->info("run {}: {}", run->assignment.run, member.storage.oversize);
  run->stages = stages_of(run->assignment, member);
  // Parameters, two moments of each, and the best ones.
  if (!member.models.empty())
    run->most_loaded_values =
      4 * static_cast<std::uint64_t>(member.models.front()->parameter_count());
  member.log = log_about(log_of(run->assignment.run), {.module = "run"});
  member.gauges = run->gauges;
  run->health = member.health;
  with_.traces.add(*run);
  if (member.def.fetch.verify != 0)
    run->audit = row_audit::make(member.def.fetch.verify);
  member.access =
    access_of(run->assignment, member, run->stages, with_.config.around,
              {run->wire, run->filling, run->cache, run->audit, run->census});
  auto& system = self_->home_system();
  run_relay_config relay{.run = run->assignment.run,
                         .coordinator = run->assignment.coordinator,
                         .net = with_.config.around.net,
                         .agent = handle_of<agent_actor>(self_),
                         .attempt = run->assignment.attempt(),
                         .outputs = predicts_outputs(member.def)};
  if (const auto& tell = with_.config.feeds.failed)
    relay.failed = [tell, id = run->assignment.run] { tell(id); };
  run->relay = with_.config.relay(system, std::move(relay));
  run->member =
    spawn_member(system, std::move(member), run->stages, run->relay);
  deaths_.watch(self_, run->member, [this, run](const caf::error& reason) {
    member_gone(run, reason);
  });
  // Without it the coordinator would wait for steps for ever.
  deaths_.watch(
    self_, run->relay,
    [me = handle_of<agent_actor>(self_), id = run->assignment.run,
     attempt = run->assignment.attempt()](const caf::error& reason) {
      post(me, run_orphaned{id, attempt, from_caf(reason, "the run's relay")});
    });
}

void share_host::verify(const share_ptr& run) {
  with_.config.guard->check(
    run->records,
    [me = handle_of<agent_actor>(self_), id = run->assignment.run,
     attempt = run->assignment.attempt()](const result<void>& sound) {
      post(me, share_verified{id, attempt, sound});
    });
}

void share_host::verified(const share_verified& done) {
  const auto run = with_.shares.find(done.run, done.attempt);
  if (!run)
    return;
  if (done.sound && !run->life.is_over())
    tell_sound(run->assignment);
  go_on(run, run->life.verified(done.sound));
}

/// With that the run can do without this daemon, if it must. The coordinator
/// that does not hear it is the more careful.
void share_host::tell_sound(const deployment& assignment) {
  run_events news;
  news.run = assignment.run;
  news.attempt = assignment.attempt();
  news.sound = true;
  with_.config.around.net->request(
    assignment.coordinator, method::run_event, encode(news),
    within(timeouts::question, timeouts::question_unreachable),
    [](const result<payload>&) {});
}

/// Only now can others ask for what is served here.
void share_host::on_ready(const share_ready& ready) {
  const auto run = with_.shares.find(ready.run, ready.attempt);
  if (!run || run->life.is_over())
    return;
  run->deployed.reply(payload{});
  log_of(ready.run)->info("run {}: ready", ready.run);
}

// -- the end of a share

/// What is asked of its parts from now on is refused; `forget` does it again,
/// for those that were published meanwhile.
share_life::task share_host::begin_end(const share_ptr& run, bool finishing) {
  if (!run->life.is_over()) {
    post(with_.config.around.data, withdraw_run{run->assignment.run});
    with_.reports.report_end(*run);
  }
  return run->life.end(finishing);
}

void share_host::end(const share_ptr& run, bool finishing,
                     const responder& reply) {
  now_at(moment::drain);
  const auto next = begin_end(run, finishing);
  if (next == share_life::task::refuse)
    reply.reply(
      fail(ec::unavailable,
           "run {} has ended at daemon \"{}\" before its data were verified",
           run->assignment.run, with_.config.around.net->self().name));
  else
    run->ending.push_back(reply);
  go_on(run, next);
}

void share_host::end_all(const error& reason) {
  with_.next.drop_all(reason);
  for (const auto& run : with_.shares.all())
    abandon(run, reason);
}

void share_host::fail_all(const error& reason) {
  for (const auto& run : with_.shares.all()) {
    if (run->life.is_over())
      continue;
    if (run->relay)
      post(run->relay, run_failed{reason});
    else
      run->deployed.reply(reason); // The coordinator ends the share.
  }
}

bool share_host::orphaned(const run_orphaned& lost) {
  // Kept, though it may be forgotten at once.
  const auto run = with_.shares.find(lost.run, lost.attempt);
  return run && abandon(run, lost.reason);
}

bool share_host::abandon(const share_ptr& run, const error& reason) {
  if (run->life.is_over())
    return false;
  if (std::exchange(run->keeping, true))
    return false; // It ends as soon as that is done.
  log_of(run->assignment.run)
    ->warn("run {}: ended here: {}", run->assignment.run, reason.message);
  with_.keeper.keep_and_then(run, [this, run] {
    for (const auto& asker : std::exchange(run->asked_kept, {}))
      asker.reply(encode(with_.keeper.kept().of(run->assignment.run)));
    if (with_.shares.contains(run)
        && !run->life.is_over()) // Else it was ordered to end.
      go_on(run, begin_end(run, false));
  });
  return true;
}

void share_host::member_gone(const share_ptr& run, const caf::error& reason) {
  const auto next = run->life.member_gone();
  if (next == share_life::task::report)
    post(run->relay, run_failed{from_caf(reason, "a member of the run")});
  else
    log_of(run->assignment.run)->info("run {}: over", run->assignment.run);
  go_on(run, next);
}

void share_host::forget(const share_ptr& run) {
  post(with_.config.around.data, withdraw_run{run->assignment.run});
  run->deployed.reply(fail(ec::unavailable, "the run is over"));
  const auto report =
    encode(final_report(*run, with_.config.around.net->statistics()));
  for (auto& waiting : run->ending)
    waiting.reply(report);
  stop_actor(run->member);
  stop_actor(run->relay);
  if (with_.config.feeds.ended)
    with_.config.feeds.ended(run->assignment.run);
  with_.shares.remove(run->assignment.run);
  with_.reports.forget(run->assignment.run);
  if (auto next = with_.next.take(run->assignment.run))
    take_up(std::move(next->assignment), next->reply);
}

} // namespace graphmill
