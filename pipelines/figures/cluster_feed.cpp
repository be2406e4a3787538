#include "pipelines/figures/cluster_feed.hpp"

#include "pipelines/figures/status_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace graphmill {

namespace {

cluster_event event_of_run(const run_record& run, unix_time now) {
  cluster_event out;
  out.time = now;
  out.run = run.id;
  if (run.state == run_state::running) {
    out.kind = event_kind::started;
    out.text = fmt::format("run {} has begun", run.id);
    return out;
  }
  out.kind = is_over(run.state) ? event_kind::ended : event_kind::queued;
  out.text = fmt::format("{}{}{}", to_string(run.state),
                         run.message.empty() ? "" : ": ", run.message);
  return out;
}

/// As a list has it.
run_record briefly(const run_record& run) {
  auto out = run;
  out.summary = brief_summary(run.summary);
  if (out.summary.size() > cluster_feed::most_summary_bytes)
    out.summary.clear();
  return out;
}

} // namespace

void cluster_feed::begin(std::uint64_t first, std::vector<cluster_event> before,
                         event_sink keep) {
  const std::lock_guard lock{mutex_};
  history_ = cluster_history{first};
  events_ = event_ring{first, std::move(before)};
  keep_ = std::move(keep);
}

void cluster_feed::add(cluster_event event) {
  const auto& kept = events_.add(std::move(event));
  if (keep_)
    keep_(kept);
}

void cluster_feed::sample(const cluster_figures& now) {
  const auto periods = periods_.take(now);
  const std::lock_guard lock{mutex_};
  history_.take(now, periods);
}

void cluster_feed::tell(cluster_event event) {
  const std::lock_guard lock{mutex_};
  add(std::move(event));
}

void cluster_feed::note(const run_record& run, unix_time now) {
  auto kept = briefly(run);
  const std::lock_guard lock{mutex_};
  if (put(std::move(kept)) != run.state)
    add(event_of_run(run, now));
}

void cluster_feed::recall(const runs_reply& known) {
  std::vector<run_record> kept;
  std::transform(known.runs.rbegin(), known.runs.rend(),
                 std::back_inserter(kept), briefly);
  const std::lock_guard lock{mutex_};
  more_ = more_ || known.more;
  for (auto& run : kept)
    put(std::move(run));
}

/// Runs that are over make room first: of the others there are fewer.
std::optional<run_state> cluster_feed::put(run_record run) {
  if (const auto known = std::ranges::find(runs_, run.id, &run_record::id);
      known != runs_.end()) {
    const auto before = known->state;
    *known = std::move(run);
    return before;
  }
  runs_.push_back(std::move(run));
  if (runs_.size() > most_runs) {
    const auto over = std::ranges::find_if(
      runs_, [](const auto& one) { return is_over(one.state); });
    runs_.erase(over == runs_.end() ? runs_.begin() : over);
    more_ = true;
  }
  return std::nullopt;
}

cluster_history::page cluster_feed::history(std::uint64_t since,
                                            std::size_t most_rows) const {
  const std::lock_guard lock{mutex_};
  return history_.since(since, most_rows);
}

event_ring::page cluster_feed::events(std::uint64_t since) const {
  const std::lock_guard lock{mutex_};
  return events_.since(since);
}

std::vector<actor_periods::period>
cluster_feed::actors(const std::string& run) const {
  const std::lock_guard lock{mutex_};
  return history_.actors(run);
}

cluster_feed::position cluster_feed::now() const {
  const std::lock_guard lock{mutex_};
  return {history_.next(), events_.next()};
}

std::optional<run_record> cluster_feed::run(const std::string& id) const {
  const std::lock_guard lock{mutex_};
  const auto known = std::ranges::find(runs_, id, &run_record::id);
  if (known == runs_.end())
    return std::nullopt;
  return *known;
}

runs_reply cluster_feed::runs(std::size_t most) const {
  runs_reply out;
  const std::lock_guard lock{mutex_};
  out.more = more_ || runs_.size() > most;
  const auto told = static_cast<std::ptrdiff_t>(std::min(most, runs_.size()));
  out.runs.assign(runs_.rbegin(), runs_.rbegin() + told);
  return out;
}

} // namespace graphmill
