#include "actors/cluster/coordinator/members/cluster_logs.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/call_limits.hpp"
#include "messages/wire/trace.hpp"
#include "pipelines/health/board_trace.hpp"

#include <utility>

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

cluster_logs::cluster_logs(cluster_port& port, const daemon_registry& registry,
                           std::shared_ptr<log_ring> lines)
  : port_(port), registry_(registry), lines_(std::move(lines)),
    collector_(lines_) {
  // nop
}

void cluster_logs::collect(clock::time_point now) {
  if (!collector_.due(now))
    return;
  for (auto& asked :
       collector_.begin(registry_.statuses(), port_.self().name, now)) {
    const auto address = asked.address;
    auto data = encode(asked.request);
    port_.call(address, method::log_lines, std::move(data),
               within(timeouts::question, timeouts::question_unreachable, 1),
               [this, asked = std::move(asked)](const result<payload>& answer) {
                 collector_.answered(
                   asked, answer ? decode_log_reply(answer.value())
                                 : result<log_reply>{answer.error()});
               });
  }
}

result<payload> cluster_logs::lines(const payload& request) {
  GRAPHMILL_TRY(const auto asked, decode_log_request(request));
  auto out = lines_ ? lines_->since(asked) : log_reply{};
  out.begun = collector_.begun();
  out.collected = collector_.collected();
  collector_.hurry();
  return encode(out);
}

void cluster_logs::trace(const payload& request, const responder& reply) const {
  const auto wanted = decode_trace_request(request);
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
  port_.call(daemon.value().status.address, method::spans, request,
             within(timeouts::question, timeouts::question_unreachable, 1),
             [reply, clock = asked.most == 0,
              began = trace_time()](const result<payload>& answer) {
               reply.reply(clock && answer
                             ? with_our_clock(answer.value(), began)
                             : answer);
             });
}

} // namespace graphmill
