#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/coordinator_state.hpp"
#include "actors/process/logs/log_lines.hpp"

#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

// What daemons log, and what has happened, as the coordinator keeps and tells
// it.

namespace graphmill {

/// Where the log of a run that is on goes beside its file.
log_outlets coordinator::outlets_of(const std::string& run) const {
  log_outlets out;
  out.console = config_.log->sinks().front();
  out.name = logger_name({"run", run, {}});
  if (config_.logs)
    out.memory = ring_sink(config_.logs, calls_.net().self().name, run);
  return out;
}

std::shared_ptr<spdlog::logger>
coordinator::log_of(const std::string& run) const {
  return log_about(config_.log, {.run = run});
}

void coordinator::collect_logs(clock::time_point now) {
  if (!logs_.due(now))
    return;
  for (auto& asked :
       logs_.begin(registry_.statuses(), calls_.net().self().name, now)) {
    const auto address = asked.address;
    auto data = encode(asked.request);
    calls_.call(
      address, method::log_lines, std::move(data),
      within(timeouts::question, timeouts::question_unreachable, 1),
      [this, asked = std::move(asked)](const result<payload>& answer) {
        logs_.answered(asked, answer ? decode_log_reply(answer.value())
                                     : result<log_reply>{answer.error()});
      });
  }
}

/// The lines of all daemons, as far as they are known. What is not known yet is
/// asked for at once.
result<payload> coordinator::tell_logs(const payload& data) {
  GRAPHMILL_TRY(const auto asked, decode_log_request(data));
  auto out = config_.logs ? config_.logs->since(asked) : log_reply{};
  out.begun = logs_.begun();
  out.collected = logs_.collected();
  logs_.hurry();
  return encode(out);
}

result<payload> coordinator::tell_of_events(const payload& data) const {
  GRAPHMILL_TRY(const auto asked, decode_events_request(data));
  events_reply out;
  if (!config_.feed)
    return encode(out);
  const auto page = config_.feed->events(asked.after);
  out.next = page.next;
  for (const auto& event : page.events) {
    if (!asked.run.empty() && event.run != asked.run)
      continue;
    if (out.events.size() == log_limits::events) {
      out.next = event.seq;
      out.more = true;
      break;
    }
    out.events.push_back({event.seq, event.time,
                          std::string{to_string(event.kind)}, event.who,
                          event.run, event.text});
  }
  return encode(out);
}

} // namespace graphmill
