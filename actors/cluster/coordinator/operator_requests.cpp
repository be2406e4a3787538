#include "actors/cluster/coordinator/operator_requests.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/call_limits.hpp"
#include "actors/cluster/base/chaos_tool.hpp"
#include "actors/cluster/coordinator/leading/run_leader.hpp"
#include "actors/cluster/coordinator/leading/run_starter.hpp"
#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/outside/cluster_notices.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/coordinator/outside/coordinator_config.hpp"
#include "actors/cluster/coordinator/records/run_archive.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "actors/cluster/history/state_lock.hpp"

#include <fmt/ranges.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

call_options once() {
  return within(timeouts::question, timeouts::question_unreachable, 1);
}

/// Fails if a daemon never comes to a moment in a run, and says who does.
/// Before the run is placed, any may.
/// @param leader The coordinator's daemon.
result<void> check_moment_in(const submitted_run& run,
                             const std::string& daemon, moment at,
                             const std::string& leader) {
  const auto& where = run.on.where;
  std::vector<std::string> trains;
  for (std::size_t d = 0; d < where.daemons.size(); ++d)
    if (!where.ranks_of(static_cast<std::uint16_t>(d)).empty())
      trains.push_back(where.daemons[d].name);
  if (trains.empty())
    return ok();
  switch (at) {
  case moment::checkpoint:
    if (run.def.checkpoint.keep == 0)
      return fail(ec::invalid_argument, "run {} writes no checkpoints", run.id);
    // The conductor asks the first member for a copy.
    if (daemon == leader || daemon == trains.front())
      return ok();
    return fail(ec::invalid_argument,
                "daemon \"{}\" never comes to the moment `checkpoint` in run "
                "{}: daemon \"{}\" copies what trainers have, and the "
                "coordinator, \"{}\", writes it",
                daemon, run.id, trains.front(), leader);
  case moment::exchange:
    if (run.trainers() < 2)
      return fail(ec::invalid_argument,
                  "daemon \"{}\" never comes to the moment `exchange` in run "
                  "{}: its one trainer has no other one to exchange with",
                  daemon, run.id);
    [[fallthrough]];
  case moment::filling_caches:
  case moment::epoch_edge:
  case moment::evaluation:
    if (std::ranges::find(trains, daemon) != trains.end())
      return ok();
    return fail(
      ec::invalid_argument,
      "daemon \"{}\" never comes to the moment `{}` in run {}: it has "
      "no trainer of it, as {} {}",
      daemon, to_string(at), run.id, fmt::join(trains, ", "),
      trains.size() == 1 ? "has" : "have");
  case moment::at_once:
  case moment::start_up:
  case moment::mid_epoch:
  case moment::drain:
    break;
  }
  return ok();
}

/// Fails if a daemon comes to a moment in none of the runs that are on.
result<void> check_moment(const active_runs& active, const std::string& daemon,
                          moment at, const std::string& leader) {
  result<void> comes = ok();
  for (const auto& run : active.all()) {
    comes = check_moment_in(*run, daemon, at, leader);
    if (comes)
      break;
  }
  return comes;
}

} // namespace

operator_requests::operator_requests(const leading_parts& with,
                                     run_leader& leader, run_starter& starter,
                                     std::function<void()> end_cluster)
  : with_(with), leader_(leader), starter_(starter),
    end_cluster_(std::move(end_cluster)) {
  // nop
}

void operator_requests::cancel(const payload& request, const responder& reply) {
  const auto decoded = decode_cancel_request(request);
  if (!decoded) {
    reply.reply(decoded.error());
    return;
  }
  const auto& wanted = decoded.value();
  if (leader_.cancel(wanted.run, wanted.now))
    reply.reply(payload{});
  else
    with_.archive.ask(
      wanted.run, reply, [](const run_record& run) -> result<payload> {
        return fail(ec::invalid_argument, "run {} is {} already", run.id,
                    to_string(run.state));
      });
}

result<payload> operator_requests::drain(const payload& request) {
  GRAPHMILL_TRY(const auto wanted, decode_daemon_request(request));
  GRAPHMILL_TRYV(with_.daemons.registry().drain(wanted.name, !wanted.back));
  with_.notices.coming(
    wanted.back ? event_kind::in_service : event_kind::draining, wanted.name,
    wanted.back ? "is in service again" : "is draining");
  starter_.start(); // Runs may have waited for it.
  return payload{};
}

// -- harm

void operator_requests::chaos(const payload& request, const responder& reply) {
  auto decoded = decode_chaos_request(request);
  if (!decoded) {
    reply.reply(decoded.error());
    return;
  }
  auto asked = std::move(decoded).value();
  const auto& registry = with_.daemons.registry();
  const auto target = registry.find(asked.daemon);
  const auto peer = asked.peer.empty() ? target : registry.find(asked.peer);
  if (!target || !peer) {
    reply.reply(target ? peer.error() : target.error());
    return;
  }
  const auto& status = target.value().status;
  if (!status.chaos) {
    reply.reply(refuse_chaos(asked.daemon));
    return;
  }
  if (const auto comes = check_moment(with_.active, asked.daemon, asked.at,
                                      with_.port.self().name);
      !comes) {
    reply.reply(comes.error());
    return;
  }
  if (!asked.peer.empty())
    asked.peer = peer.value().status.address;
  inflict(asked, status, reply);
}

void operator_requests::inflict(const chaos_request& asked,
                                const daemon_status& target,
                                const responder& reply) {
  const auto says =
    fmt::format("a client asks for chaos: {}", sentence_of(asked));
  with_.notices.log().warn("{}", says);
  with_.notices.event_of(with_.active.needing(target.name), event_kind::warning,
                         target.name, says);
  if (target.name == with_.port.self().name) {
    const auto& tool = with_.config.chaos;
    if (tool)
      tool->inflict(asked);
    reply.reply(tool ? result<payload>{payload{}} : refuse_chaos(asked.daemon));
    return;
  }
  with_.port.call(
    target.address, method::chaos, encode(asked), once(),
    [reply](const result<payload>& answer) { reply.reply(answer); });
}

// -- the end

void operator_requests::stop(const payload& request, const responder& reply) {
  const auto decoded = decode_daemon_request(request);
  if (!decoded) {
    reply.reply(decoded.error());
    return;
  }
  const auto& target = decoded.value().name;
  const auto used = with_.active.first([&target](const submitted_run& run) {
    return target.empty() || run.uses(target);
  });
  if (used)
    reply.reply(fail(ec::invalid_argument,
                     "run {} is on {}: cancel it first, or wait for its end",
                     used->id, target.empty() ? "here" : "there"));
  else if (target == with_.port.self().name || target.empty())
    stop_all(target, reply);
  else
    stop_daemon(target, reply);
}

void operator_requests::stop_daemon(const std::string& name,
                                    const responder& reply) {
  const auto daemon = with_.daemons.registry().find(name);
  if (!daemon) {
    reply.reply(daemon.error());
    return;
  }
  with_.port.call(daemon.value().status.address, method::stop, {}, once(),
                  [this, name, incarnation = daemon.value().incarnation,
                   reply](const result<payload>& answer) {
                    if (answer)
                      with_.daemons.let_go(name, incarnation);
                    reply.reply(answer);
                  });
}

void operator_requests::stop_all(const std::string& target,
                                 const responder& reply) {
  const auto daemons = with_.daemons.registry().statuses();
  if (!target.empty() && daemons.size() > 1) {
    reply.reply(fail(ec::invalid_argument,
                     "\"{}\" is the coordinator: stop the other daemons "
                     "first, or all with --all",
                     target));
    return;
  }
  if (target.empty()) // Else a stand-in may go on in its place.
    if (auto marked = with_.config.lock->mark_ended(); !marked)
      with_.notices.log().warn(
        "a stand-in would not know that the cluster ends: {}",
        marked.error().message);
  auto left = std::make_shared<std::size_t>(1);
  const auto done = [this, left, reply] {
    if (--*left != 0)
      return;
    reply.reply(payload{});
    end_cluster_();
  };
  for (const auto& status : daemons) {
    if (status.name == with_.port.self().name
        || status.state == daemon_state::lost)
      continue;
    ++*left;
    with_.port.call(status.address, method::stop, {}, once(),
                    [done](const result<payload>&) { done(); });
  }
  done();
}

} // namespace graphmill
