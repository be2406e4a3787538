#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"

#include <spdlog/logger.h>

#include <memory>
#include <utility>

// What operators have daemons do: drain, be harmed, stop.

namespace graphmill {

result<payload> coordinator::drain(const payload& data) {
  GRAPHMILL_TRY(const auto request, decode_daemon_request(data));
  GRAPHMILL_TRYV(registry_.drain(request.name, !request.back));
  tell_coming(request.back ? event_kind::in_service : event_kind::draining,
              request.name,
              request.back ? "is in service again" : "is draining");
  start_next(); // Runs may have waited for it.
  return payload{};
}

/// Fails if a daemon comes to a moment in none of the runs that are on.
result<void> coordinator::check_moment(const std::string& daemon,
                                       moment at) const {
  result<void> comes = ok();
  for (const auto& run : active_.all()) {
    comes = run->check_moment(daemon, at, calls_.net().self().name);
    if (comes)
      break;
  }
  return comes;
}

/// Hands on to a daemon that it is to harm itself.
void coordinator::chaos(const payload& data, const responder& reply) {
  auto decoded = decode_chaos_request(data);
  if (!decoded) {
    reply.reply(decoded.error());
    return;
  }
  auto asked = std::move(decoded).value();
  const auto target = registry_.find(asked.daemon);
  const auto peer = asked.peer.empty() ? target : registry_.find(asked.peer);
  if (!target || !peer) {
    reply.reply(target ? peer.error() : target.error());
    return;
  }
  const auto& status = target.value().status;
  if (!status.chaos) {
    reply.reply(refuse_chaos(asked.daemon));
    return;
  }
  if (const auto comes = check_moment(asked.daemon, asked.at); !comes) {
    reply.reply(comes.error());
    return;
  }
  if (!asked.peer.empty())
    asked.peer = peer.value().status.address;
  const auto says =
    fmt::format("a client asks for chaos: {}", sentence_of(asked));
  config_.log->warn("{}", says);
  tell_runs(event_kind::warning, status.name, says);
  if (status.name == calls_.net().self().name) {
    if (config_.chaos)
      config_.chaos->inflict(asked);
    reply.reply(config_.chaos ? result<payload>{payload{}}
                              : refuse_chaos(asked.daemon));
    return;
  }
  calls_.call(status.address, method::chaos, encode(asked),
              within(timeouts::question, timeouts::question_unreachable, 1),
              [reply](const result<payload>& answer) { reply.reply(answer); });
}

void coordinator::stop(const payload& data, const responder& reply) {
  const auto request = decode_daemon_request(data);
  if (!request) {
    reply.reply(request.error());
    return;
  }
  const auto& target = request.value().name;
  const auto used = active_.first([&target](const active_run& run) {
    return target.empty() || run.uses(target);
  });
  if (used) {
    reply.reply(fail(ec::invalid_argument,
                     "run {} is on {}: cancel it first, or wait for its end",
                     used->id, target.empty() ? "here" : "there"));
    return;
  }
  if (target == calls_.net().self().name || target.empty()) {
    stop_all(target, reply);
    return;
  }
  const auto daemon = registry_.find(target);
  if (!daemon) {
    reply.reply(daemon.error());
    return;
  }
  stop_daemon(daemon.value(), reply);
}

void coordinator::stop_daemon(const daemon_registry::entry& daemon,
                              const responder& reply) {
  calls_.call(daemon.status.address, method::stop, {},
              within(timeouts::question, timeouts::question_unreachable, 1),
              [this, daemon, reply](const result<payload>& answer) {
                if (answer)
                  let_go(daemon.status.name, daemon.incarnation);
                reply.reply(answer);
              });
}

void coordinator::stop_all(const std::string& target, const responder& reply) {
  if (!target.empty() && registry_.statuses().size() > 1) {
    reply.reply(fail(ec::invalid_argument,
                     "\"{}\" is the coordinator: stop the other daemons "
                     "first, or all with --all",
                     target));
    return;
  }
  if (target.empty()) // Else a stand-in may go on in its place.
    if (auto marked = config_.lock->mark_ended(); !marked)
      config_.log->warn("a stand-in would not know that the cluster ends: {}",
                        marked.error().message);
  auto left = std::make_shared<std::size_t>(1);
  const auto done = [this, left, reply] {
    if (--*left != 0)
      return;
    reply.reply(payload{});
    end_cluster();
  };
  for (const auto& status : registry_.statuses()) {
    if (status.name == calls_.net().self().name
        || status.state == daemon_state::lost)
      continue;
    ++*left;
    calls_.call(status.address, method::stop, {},
                within(timeouts::question, timeouts::question_unreachable, 1),
                [done](const result<payload>&) { done(); });
  }
  done();
}

} // namespace graphmill
