#include "actors/cluster/daemon/share_host.hpp"

#include "actors/cluster/daemon/share_preparation.hpp"
#include "messages/base/caught.hpp"
#include "messages/base/moments.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

share_host::share_host(agent_actor::pointer self, const agent_config& config)
  : self_(self), config_(config) {
  deaths_.install(self_);
}

share_host::~share_host() {
  for (auto& [id, run] : runs_) {
    stop_actor(run->member);
    stop_actor(run->relay);
  }
}

void share_host::sample_memory() {
  for (auto& [id, run] : runs_)
    run->memory.sample();
}

result<payload> share_host::weights(const payload& data) const {
  GRAPHMILL_TRY(const auto wanted, decode_weights_request(data));
  GRAPHMILL_TRY(const auto run, find(wanted.run));
  return piece_of(*run, wanted);
}

result<share_host::share> share_host::find(const std::string& id) const {
  const auto it = runs_.find(id);
  if (it == runs_.end())
    return fail(ec::unavailable, "run {} is not here", id);
  return it->second;
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
  // A coordinator has one run on: what else is here has lost its own.
  end_all(fail(ec::unavailable, "the coordinator has begun another run"));
  auto run = std::make_shared<hosted_share>();
  run->assignment = std::move(deployment).value();
  run->deployed = request.reply;
  run->cpu_before = process_cpu_seconds();
  run->sent_before = config_.around.net->statistics();
  runs_[run->assignment.run] = run;
  config_.log->info("run {}: preparing", run->assignment.run);
  prepare(run);
}

result<void> share_host::check(const deployment& assignment) const {
  if (runs_.count(assignment.run) != 0)
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
    config_.log->warn("run {}: not begun: {}", done.run, begun.error().message);
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
  config_.log->info("run {}: {}", run->assignment.run,
                    sentence(member.storage));
  run->stages = stages_of(run->assignment, member);
  // Parameters, two moments of each, and the best ones.
  if (!member.models.empty())
    run->most_loaded_values =
      4 * static_cast<std::uint64_t>(member.models.front()->parameter_count());
  member.log = config_.log;
  member.gauges = run->gauges;
  if (member.def.fetch.verify != 0)
    run->audit = row_audit::make(member.def.fetch.verify);
  member.access =
    access_of(run->assignment, member, run->stages, config_.around,
              {run->wire, run->filling, run->cache, run->audit});
  auto& system = self_->home_system();
  run->relay =
    config_.relay(system, {run->assignment.run, run->assignment.coordinator,
                           config_.around.net, handle_of<agent_actor>(self_)});
  run->member =
    spawn_member(system, std::move(member), run->stages, run->relay);
  deaths_.watch(self_, run->member, [this, run](const caf::error& reason) {
    member_gone(run, reason);
  });
  // Without it the coordinator would wait for steps for ever.
  deaths_.watch(
    self_, run->relay,
    [me = handle_of<agent_actor>(self_),
     id = run->assignment.run](const caf::error& reason) {
      post(me, run_orphaned{id, from_caf(reason, "the run's relay")});
    });
}

void share_host::verify(const share& run) {
  config_.guard->check(run->records,
                       [me = handle_of<agent_actor>(self_),
                        id = run->assignment.run](const result<void>& sound) {
                         post(me, share_verified{id, sound});
                       });
}

void share_host::verified(const share_verified& done) {
  if (const auto run = find(done.run))
    go_on(run.value(), run.value()->life.verified(done.sound));
}

/// Only now can others ask for what is served here.
void share_host::on_ready(const std::string& id) {
  const auto run = find(id);
  if (!run || run.value()->life.is_over())
    return;
  run.value()->deployed.reply(payload{});
  config_.log->info("run {}: ready", id);
}

// -- requests of the coordinator

bool share_host::take_request(const incoming_request& request) {
  auto asked = decode_member_request(request.data);
  if (!asked) {
    request.reply.reply(asked.error());
    return false;
  }
  const auto& wanted = asked.value();
  auto run = find(wanted.run);
  if (!run && wanted.action == member_action::end) {
    request.reply.reply(encode(member_reply{})); // It has ended before.
    return false;
  }
  if (run
      && (wanted.action == member_action::end
          || wanted.action == member_action::finish)) {
    order_end(run.value(), wanted.action == member_action::finish,
              request.reply);
    return wanted.action == member_action::end;
  }
  if (run && wanted.action == member_action::check
      && !run.value()->life.is_over()) {
    request.reply.reply(encode(member_reply{}));
    return false;
  }
  if (!run || run.value()->life.now() != share_life::state::hosted) {
    request.reply.reply(fail(ec::unavailable,
                             "run {} is not on at daemon \"{}\"", wanted.run,
                             name()));
    return false;
  }
  if (wanted.action == member_action::load) {
    if (auto taken = load_piece(*run.value(), wanted, request.data); !taken)
      request.reply.reply(taken.error());
    else
      request.reply.reply(encode(member_reply{}));
    return false;
  }
  carry_out(run.value(), wanted, request.reply);
  return false;
}

void share_host::carry_out(const share& run, const member_request& request,
                           const responder& reply) {
  switch (request.action) {
  case member_action::begin:
    post(run->member, phase_request{request.phase, request.epoch, request.steps,
                                    request.learning_rate, request.first_step});
    reply.reply(encode(member_reply{}));
    break;
  case member_action::stop:
    post_urgent(run->member, stop_after_step{});
    reply.reply(encode(member_reply{}));
    break;
  case member_action::trainers:
    ask_trainers(run, request, reply);
    break;
  case member_action::end:
  case member_action::finish:
  case member_action::check:
  case member_action::load:
    break; // Have been seen to.
  }
}

void share_host::ask_trainers(const share& run, const member_request& request,
                              const responder& reply) {
  const auto action = request.trainers;
  trainer_request order{action};
  if (action == trainer_action::restore) {
    order.state = std::exchange(run->loading, nullptr);
    order.steps = request.restored_steps;
    run->loaded_values = 0;
  }
  requests_.ask(self_, run->member, patience_for(action), order)
    .then(
      [run, reply, action](const member_state& state) {
        member_reply out;
        for (const auto& trainer : state.trainers)
          out.trainers.push_back({trainer.rank, trainer.digest, trainer.steps});
        // A checkpoint is fetched while other orders come.
        auto& kept = action == trainer_action::checkpoint ? run->checkpoint
                                                          : run->snapshot;
        if (!state.trainers.empty()) {
          const auto first = std::min_element(
            state.trainers.begin(), state.trainers.end(),
            [](const auto& a, const auto& b) { return a.rank < b.rank; });
          kept = first->parameters;
        }
        if (kept)
          for (const auto& tensor : *kept)
            out.tensors.push_back({tensor.name, tensor.shape});
        reply.reply(encode(out));
      },
      [reply](const caf::error& reason) {
        reply.reply(from_caf(reason, "a trainer"));
      });
}

// -- the end of a share

/// What is asked of its parts from now on is refused; `forget` does it again,
/// for those that were published meanwhile.
share_life::task share_host::begin_end(const share& run, bool finishing) {
  if (!run->life.is_over())
    post(config_.around.data, withdraw_run{run->assignment.run});
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
  const auto hosted =
    runs_; // A copy, since shares may be forgotten on the way.
  for (auto& [id, run] : hosted)
    orphaned(id, reason);
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

bool share_host::orphaned(const std::string& id, const error& reason) {
  const auto run = find(id); // Kept, though it may be forgotten at once.
  if (!run || run.value()->life.is_over())
    return false;
  config_.log->warn("run {}: ended here: {}", id, reason.message);
  go_on(run.value(), begin_end(run.value(), false));
  return true;
}

void share_host::member_gone(const share& run, const caf::error& reason) {
  const auto next = run->life.member_gone();
  if (next == share_life::task::report)
    post(run->relay, run_failed{from_caf(reason, "a member of the run")});
  else
    config_.log->info("run {}: over", run->assignment.run);
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
}

} // namespace graphmill
