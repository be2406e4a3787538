#include "actors/cluster/coordinator/outside/cluster_notices.hpp"

#include "actors/base/timeouts.hpp"
#include "actors/cluster/coordinator/outside/coordinator_limits.hpp"
#include "actors/cluster/history/run_history.hpp"
#include "actors/process/logs/log_lines.hpp"
#include "actors/process/logs/log_ring.hpp"
#include "messages/base/unix_time.hpp"
#include "messages/wire/log.hpp"
#include "pipelines/figures/cluster_feed.hpp"

#include <spdlog/logger.h>

#include <utility>

namespace graphmill {

cluster_notices::cluster_notices(const coordinator_config& config,
                                 std::string self)
  : self_(std::move(self)), log_(config.log), lines_(config.logs),
    feed_(config.feed),
    complaints_([log = log_](const auto& line) { log->warn("{}", line); }),
    comings_([log = log_](const auto& line) { log->info("{}", line); },
             coordinator_limits::told_daemons) {
  // nop
}

std::shared_ptr<spdlog::logger>
cluster_notices::log_of(const std::string& run) const {
  return log_about(log_, {.run = run});
}

log_outlets cluster_notices::outlets_of(const std::string& run) const {
  log_outlets out;
  out.console = log_->sinks().front();
  out.name = logger_name({"run", run, {}});
  if (lines_)
    out.memory = ring_sink(lines_, self_, run);
  return out;
}

void cluster_notices::complain(const std::string& sentence) {
  complaints_.add(sentence, clock::now());
}

void cluster_notices::look(clock::time_point now) {
  complaints_.look(now);
  comings_.look(now);
}

void cluster_notices::event(event_kind kind, const std::string& daemon,
                            std::string text, const std::string& run) {
  if (feed_)
    feed_->tell({.time = now_unix(),
                 .kind = kind,
                 .who = daemon,
                 .run = run,
                 .text = std::move(text)});
}

void cluster_notices::event_of(const std::vector<std::string>& runs,
                               event_kind kind, const std::string& daemon,
                               const std::string& text) {
  for (const auto& run : runs)
    event(kind, daemon, text, run);
  if (runs.empty())
    event(kind, daemon, text);
}

void cluster_notices::coming(event_kind kind, const std::string& daemon,
                             const std::string& what) {
  const auto text = fmt::format("daemon {} {}", daemon, what);
  comings_.add(fmt::format("{} {}", to_string(kind), daemon), text,
               clock::now());
  event(kind, daemon, text);
}

void cluster_notices::run(const run_record& record) {
  if (feed_)
    feed_->note(record, now_unix());
}

void cluster_notices::recall_runs(run_history& from, std::uint32_t most) {
  if (!feed_)
    return;
  const auto known = from.list(most);
  if (known)
    feed_->recall({known.value().runs, known.value().more});
  else
    log_->warn("{}", known.error().message);
}

std::function<void(const std::string&)>
cluster_notices::checkpoint_reporter(const std::string& run) const {
  if (!feed_)
    return {};
  return [feed = feed_, run,
          quiet = clock::time_point{}](const std::string& name) mutable {
    if (clock::now() < quiet)
      return;
    quiet = clock::now() + timeouts::checkpoints_told;
    feed->tell({.time = now_unix(),
                .kind = event_kind::checkpoint,
                .run = run,
                .text = fmt::format("checkpoint {} is written", name)});
  };
}

result<payload> cluster_notices::events(const payload& request) const {
  GRAPHMILL_TRY(const auto asked, decode_events_request(request));
  events_reply out;
  if (!feed_)
    return encode(out);
  const auto page = feed_->events(asked.after);
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
