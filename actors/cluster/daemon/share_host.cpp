#include "actors/cluster/daemon/share_host.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/daemon/shares/share_preparation.hpp"
#include "messages/base/caught.hpp"
#include "messages/base/moments.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

namespace graphmill {

share_host::share_host(agent_actor::pointer self, const agent_config& config)
  : self_(self), config_(config), health_(config.around.net) {
  deaths_.install(self_);
}

share_host::~share_host() {
  for (auto& [id, run] : runs_) {
    stop_actor(run->member);
    stop_actor(run->relay);
  }
}

result<share_host::share> share_host::find(const std::string& id) const {
  const auto it = runs_.find(id);
  if (it == runs_.end())
    return fail(ec::unavailable, "run {} is not here", id);
  return it->second;
}

/// What is told of a share of an earlier attempt does not count: null.
share_host::share share_host::find(const std::string& id,
                                   std::uint32_t attempt) const {
  const auto it = runs_.find(id);
  return it != runs_.end() && it->second->assignment.attempt() == attempt
           ? it->second
           : nullptr;
}

// -- deployment

void share_host::deploy(const incoming_request& request) {
  auto deployment = decode_deployment(request.data);
  if (!deployment) {
    request.reply.reply(deployment.error());
    return;
  }
  if (auto fits = check(deployment.value()); !fits) {
    request.reply.reply(fits.error());
    return;
  }
  auto& assigned = deployment.value();
  // What the coordinator does not name beside it has lost its own.
  const error reason =
    fail(ec::unavailable, "the coordinator has begun another run, or attempt");
  const auto& beside = assigned.beside;
  drop_all_next(reason, beside);
  const auto hosted =
    runs_; // A copy, since shares may be forgotten on the way.
  for (const auto& [id, run] : hosted) {
    if (std::ranges::find(beside, id) != beside.end())
      continue;
    run->dropped = run->dropped || id != assigned.run;
    abandon(run, reason);
  }
  auto open = beside;
  open.push_back(assigned.run);
  kept_.keep_only(open);
  const auto run = assigned.run; // Which goes away with it.
  if (runs_.contains(run))
    next_.insert_or_assign(run, next_share{std::move(assigned), request.reply});
  else
    take_up(std::move(assigned), request.reply);
}

void share_host::drop_next(const std::string& run, const error& reason) {
  if (const auto next = next_.extract(run))
    next.mapped().reply.reply(reason);
}

void share_host::drop_all_next(const error& reason,
                               const std::vector<std::string>& but) {
  std::erase_if(next_, [&reason, &but](const auto& next) {
    if (std::ranges::find(but, next.first) != but.end())
      return false;
    next.second.reply.reply(reason);
    return true;
  });
}

void share_host::take_up(deployment assignment, const responder& reply) {
  kept_.forget(assignment.run); // Whoever leads it has asked for it before.
  auto run = std::make_shared<hosted_share>();
  run->assignment = std::move(assignment);
  run->deployed = reply;
  run->cpu_before = process_cpu_seconds();
  run->sent_before = config_.around.net->statistics();
  runs_[run->assignment.run] = run;
  log_of(run)->info("run {}: preparing", run->assignment.run);
  prepare(run);
}

result<void> share_host::check(const deployment& assignment) const {
  const auto known = runs_.find(assignment.run);
  if (known != runs_.end()
      && known->second->assignment.attempt() >= assignment.attempt())
    return fail(ec::invalid_argument, "run {} is deployed here already",
                assignment.run);
  return check_deployment(assignment, name(), config_.offer, *config_.graph);
}

/// Opens files and builds models on a thread of its own.
void share_host::prepare(const share& run) {
  const auto tell = [me = handle_of<agent_actor>(self_),
                     id = run->assignment.run](result<member_config> how,
                                               data_guard::records records) {
    post(me, run_prepared{
               id, std::make_shared<result<member_config>>(std::move(how)),
               std::move(records)});
  };
  thread_.post(
    [tell, assignment = run->assignment,
     from = share_sources{config_.data, config_.graph,
                          config_.around.processors, config_.storage}] {
      now_at(moment::start_up);
      data_guard::records records;
      auto opened = open_share(assignment, from, records);
      tell(std::move(opened), std::move(records));
    },
    [tell](const error& reason) { tell(reason, {}); });
}

void share_host::begin(const run_prepared& done) {
  const auto it = runs_.find(done.run);
  if (it == runs_.end())
    return;
  const auto run = it->second;
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
void share_host::go_on(const share& run, share_life::task next) {
  using task = share_life::task;
  switch (next) {
  case task::none:
  case task::report: // `member_gone` knows why.
  case task::refuse: // `order_end` knows whom.
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
    config_.guard->hurry();
    break;
  case task::forget:
    forget(run);
    break;
  }
}

/// A daemon outlives whatever goes wrong here.
result<void> share_host::host(const share& run, member_config member) {
  try {
    spawn(run, std::move(member));
    return ok();
  } catch (...) {
    return caught("begin the run");
  }
}

void share_host::spawn(const share& run, member_config member) {
  log_of(run)->info("run {}: {}", run->assignment.run,
                    sentence(member.storage));
  run->stages = stages_of(run->assignment, member);
  // Parameters, two moments of each, and the best ones.
  if (!member.models.empty())
    run->most_loaded_values =
      4 * static_cast<std::uint64_t>(member.models.front()->parameter_count());
  member.log = log_about(log_of(run), {.module = "run"});
  member.gauges = run->gauges;
  run->health = member.health;
  note_traced(*run);
  if (member.def.fetch.verify != 0)
    run->audit = row_audit::make(member.def.fetch.verify);
  member.access =
    access_of(run->assignment, member, run->stages, config_.around,
              {run->wire, run->filling, run->cache, run->audit, run->census});
  auto& system = self_->home_system();
  run->relay =
    config_.relay(system, {run->assignment.run, run->assignment.coordinator,
                           config_.around.net, handle_of<agent_actor>(self_),
                           run->assignment.attempt()});
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

/// Those of runs that are over make room.
void share_host::note_traced(const hosted_share& run) {
  std::erase_if(traced_, [this](const auto& traced) {
    return !runs_.contains(traced.first);
  });
  traced_[run.assignment.run] = {run.assignment.attempt(), run.health};
}

void share_host::verify(const share& run) {
  config_.guard->check(
    run->records,
    [me = handle_of<agent_actor>(self_), id = run->assignment.run,
     attempt = run->assignment.attempt()](const result<void>& sound) {
      post(me, share_verified{id, attempt, sound});
    });
}

void share_host::verified(const share_verified& done) {
  const auto run = find(done.run, done.attempt);
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
  config_.around.net->request(
    assignment.coordinator, method::run_event, encode(news),
    within(timeouts::question, timeouts::question_unreachable),
    [](const result<payload>&) {});
}

/// Only now can others ask for what is served here.
void share_host::on_ready(const share_ready& ready) {
  const auto run = find(ready.run, ready.attempt);
  if (!run || run->life.is_over())
    return;
  run->deployed.reply(payload{});
  log_of(ready.run)->info("run {}: ready", ready.run);
}

// -- the end of a share

/// What is asked of its parts from now on is refused; `forget` does it again,
/// for those that were published meanwhile.
share_life::task share_host::begin_end(const share& run, bool finishing) {
  if (!run->life.is_over()) {
    post(config_.around.data, withdraw_run{run->assignment.run});
    tell_last_health(*run);
  }
  return run->life.end(finishing);
}

void share_host::order_end(const share& run, bool finishing,
                           const responder& reply) {
  now_at(moment::drain);
  const auto next = begin_end(run, finishing);
  if (next == share_life::task::refuse)
    reply.reply(
      fail(ec::unavailable,
           "run {} has ended at daemon \"{}\" before its data were verified",
           run->assignment.run, name()));
  else
    run->ending.push_back(reply);
  go_on(run, next);
}

void share_host::end_all(const error& reason) {
  drop_all_next(reason);
  const auto hosted = runs_; // A copy, as above.
  for (const auto& [id, run] : hosted)
    abandon(run, reason);
}

void share_host::fail_all(const error& reason) {
  for (auto& [id, run] : runs_) {
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
  const auto run = find(lost.run, lost.attempt);
  return run && abandon(run, lost.reason);
}

/// @returns whether it was on, and ends now.
bool share_host::abandon(const share& run, const error& reason) {
  if (run->life.is_over())
    return false;
  if (std::exchange(run->keeping, true))
    return false; // It ends as soon as that is done.
  log_of(run)->warn("run {}: ended here: {}", run->assignment.run,
                    reason.message);
  keep_and_then(run, [this, run] {
    for (const auto& asker : std::exchange(run->asked_kept, {}))
      asker.reply(encode(kept_.of(run->assignment.run)));
    if (is_here(run) && !run->life.is_over()) // Else it was ordered to end.
      go_on(run, begin_end(run, false));
  });
  return true;
}

void share_host::member_gone(const share& run, const caf::error& reason) {
  const auto next = run->life.member_gone();
  if (next == share_life::task::report)
    post(run->relay, run_failed{from_caf(reason, "a member of the run")});
  else
    log_of(run)->info("run {}: over", run->assignment.run);
  go_on(run, next);
}

void share_host::forget(const share& run) {
  post(config_.around.data, withdraw_run{run->assignment.run});
  run->deployed.reply(fail(ec::unavailable, "the run is over"));
  const auto report =
    encode(final_report(*run, config_.around.net->statistics()));
  for (auto& waiting : run->ending)
    waiting.reply(report);
  stop_actor(run->member);
  stop_actor(run->relay);
  runs_.erase(run->assignment.run);
  health_.forget(run->assignment.run);
  if (auto next = next_.extract(run->assignment.run))
    take_up(std::move(next.mapped().assignment), next.mapped().reply);
}

} // namespace graphmill
