#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "messages/wire/trace.hpp"
#include "pipelines/health/board_trace.hpp"

#include <utility>

// What clients want to know of what the actors of daemons did.

namespace graphmill {

namespace {

trace_reply daemons_with_traces(const daemon_registry& registry,
                                const std::string& run) {
  trace_reply out;
  out.run = run;
  for (const auto& daemon : registry.statuses())
    if (daemon.state != daemon_state::lost
        && out.daemons.size() < trace_limits::daemons)
      out.daemons.push_back(daemon.name);
  return out;
}

/// A daemon's answer that compares clocks, with our times.
result<payload> with_our_clock(const payload& from, std::int64_t asked) {
  const auto answered = trace_time();
  GRAPHMILL_TRY(auto out, decode_trace_reply(from));
  out.asked = asked;
  out.answered = answered;
  return encode(out);
}

} // namespace

/// Asks the daemon that the client names. Spans are handed on unread: there may
/// be many of them.
void coordinator::trace(const payload& data, const responder& reply) {
  const auto wanted = decode_trace_request(data);
  if (!wanted) {
    reply.reply(wanted.error());
    return;
  }
  const auto& asked = wanted.value();
  if (asked.daemon.empty()) {
    reply.reply(encode(daemons_with_traces(registry_, asked.run)));
    return;
  }
  const auto daemon = registry_.find(asked.daemon);
  if (!daemon || daemon.value().status.state == daemon_state::lost) {
    reply.reply(daemon
                  ? fail(ec::unavailable, "daemon \"{}\" is lost", asked.daemon)
                  : daemon.error());
    return;
  }
  calls_.call(daemon.value().status.address, method::spans, data,
              within(timeouts::question, timeouts::question_unreachable, 1),
              [reply, clock = asked.most == 0,
               began = trace_time()](const result<payload>& answer) {
                reply.reply(clock && answer
                              ? with_our_clock(answer.value(), began)
                              : answer);
              });
}

} // namespace graphmill
