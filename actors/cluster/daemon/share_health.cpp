#include "actors/base/timeouts.hpp"
#include "actors/cluster/base/calls.hpp"
#include "actors/cluster/daemon/share_host.hpp"

#include <string>
#include <vector>

// What a daemon tells of its shares unasked.

namespace graphmill {

void share_host::sample_memory() {
  for (auto& [id, run] : runs_)
    run->memory.sample();
}

/// The shares that reports of health are about, one of each run.
std::vector<share_host::share> share_host::told_of() const {
  std::vector<share> out;
  for (const auto& [id, run] : runs_)
    if (run->health)
      out.push_back(run);
  return out;
}

health_source share_host::source_of(const hosted_share& run) const {
  const auto wire = run.wire->read();
  const auto& answers = config_.around.answers;
  return {run.assignment.run,
          run.health,
          run.cache->is_open() ? run.cache->byte_size() : 0,
          wire.rows + wire.cached_rows,
          wire.cached_rows,
          long_work_in(self_->home_system()),
          answers ? answers->used.load() : 0,
          answers ? answers->limit.load() : 0,
          config_.around.flows,
          run.stages.disk,
          run.census->offer()};
}

std::vector<daemon_health> share_host::due_health() {
  std::vector<daemon_health> out;
  const auto now = health_reporter::clock::now();
  if (!health_.due(now))
    return out;
  out.push_back(health_.report({}, now));
  for (const auto& run : told_of())
    out.push_back(health_.report(source_of(*run), now));
  return out;
}

daemon_figures share_host::figures(health_reporter::clock::time_point now) {
  std::vector<std::string> runs;
  auto several = false;
  for (const auto& run : told_of()) {
    runs.push_back(run->assignment.run);
    several = several || run->assignment.runs_at_once > 1;
  }
  auto out = health_.figures(runs, now);
  out.several = several;
  return out;
}

/// A run may have ended a moment after the last report that was due, or before
/// the first.
void share_host::tell_last_health(const hosted_share& run) {
  if (!run.health)
    return;
  const auto last =
    health_.report(source_of(run), health_reporter::clock::now());
  config_.around.net->request(
    run.assignment.coordinator, method::health_report, encode(last),
    within(timeouts::question, timeouts::question_unreachable, 1),
    [](const result<payload>&) {});
}

} // namespace graphmill
