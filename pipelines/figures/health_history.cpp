#include "pipelines/figures/health_history.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace graphmill {

namespace {

/// What a tick takes beside its lists: itself, its place, and what the
/// allocator and its counts of owners add.
constexpr std::size_t tick_bytes = sizeof(history_tick) + 128;

std::size_t kept_text_bytes(const std::string& text) {
  return sizeof text + (text.capacity() > 15 ? text.capacity() + 17 : 0);
}

std::size_t bytes_of_names(const std::vector<std::string>& names) {
  std::size_t out = 64;
  for (const auto& name : names)
    out += kept_text_bytes(name);
  return out;
}

std::size_t bytes_of_tick(const history_tick& tick) {
  auto out = tick_bytes + tick.rows.capacity() * sizeof(daemon_sample);
  for (const auto& run : tick.runs)
    out += sizeof(run_sample) + kept_text_bytes(run.run)
           + run.stages.capacity() * sizeof(stage_sample);
  return out;
}

bool is_outdated(const daemon_health& report) {
  return report.age > health_history::oldest_report;
}

constexpr auto actor_kinds =
  static_cast<std::size_t>(actor_kind::conductor) + 1;

std::vector<stage_sample> stage_samples_of(const run_health& run) {
  std::array<stage_sample, actor_kinds> sums{};
  std::array<double, actor_kinds> workers{};
  for (const auto& daemon : run.daemons) {
    if (is_outdated(daemon))
      continue;
    for (const auto& actor : daemon.actors) {
      const auto kind = static_cast<std::size_t>(actor.kind);
      auto& sum = sums[kind];
      const auto weight = double(actor.workers);
      workers[kind] += weight;
      sum.busy += float(weight * actor.busy);
      sum.starved += float(weight * actor.starved);
      sum.stalled += float(weight * actor.stalled);
      sum.waiting += float(weight * actor.waiting);
    }
  }
  std::vector<stage_sample> out;
  out.reserve(static_cast<std::size_t>(
    std::ranges::count_if(workers, [](double many) { return many > 0; })));
  for (std::size_t kind = 0; kind < actor_kinds; ++kind) {
    if (workers[kind] <= 0)
      continue;
    const auto share = float(1 / workers[kind]);
    const auto& sum = sums[kind];
    out.push_back({static_cast<actor_kind>(kind), sum.busy * share,
                   sum.starved * share, sum.stalled * share,
                   sum.waiting * share});
  }
  return out;
}

std::vector<daemon_sample> daemon_samples_of(const cluster_figures& now) {
  std::vector<daemon_sample> out;
  out.reserve(now.status.daemons.size());
  for (const auto& daemon : now.status.daemons) {
    auto& sample = out.emplace_back();
    sample.state = daemon.state;
    if (!daemon.load)
      continue;
    sample.cores = float(daemon.load->cores);
    sample.memory_bytes = float(daemon.load->memory_bytes);
    sample.received_per_second = float(daemon.load->received_per_second);
    sample.sent_per_second = float(daemon.load->sent_per_second);
    sample.disk_read_per_second = float(daemon.load->disk_read_per_second);
    sample.disk_written_per_second =
      float(daemon.load->disk_written_per_second);
  }
  return out;
}

std::size_t rows_of_tick(const history_tick& tick) {
  auto out = 1 + tick.rows.size();
  for (const auto& run : tick.runs)
    out += run.stages.size();
  return out;
}

} // namespace

void health_history::take(const cluster_figures& now) {
  if (!ticks_.empty()) {
    const auto last = ticks_.back().what->time;
    if (now.taken >= last && now.taken - last < shortest_pause)
      return;
  }
  auto made = std::make_shared<history_tick>();
  made->seq = next_++;
  made->time = now.taken;
  made->rows = daemon_samples_of(now);
  made->runs.reserve(now.runs.size());
  for (const auto& run : now.runs)
    made->runs.push_back(
      {run.health.run, run.health.progress, stage_samples_of(run.health)});
  place added;
  const auto& daemons = now.status.daemons;
  if (!ticks_.empty()
      && std::ranges::equal(*ticks_.back().what->daemons, daemons, {}, {},
                            &daemon_status::name)) {
    made->daemons = ticks_.back().what->daemons;
  } else {
    std::vector<std::string> names;
    names.reserve(daemons.size());
    for (const auto& daemon : daemons)
      names.push_back(daemon.name);
    added.names_bytes = bytes_of_names(names);
    made->daemons =
      std::make_shared<const std::vector<std::string>>(std::move(names));
  }
  added.bytes = bytes_of_tick(*made);
  added.what = std::move(made);
  bytes_ += added.bytes + added.names_bytes;
  ticks_.push_back(std::move(added));
  while (ticks_.size() > most_ticks
         || (ticks_.size() > 1
             && (bytes_ > most_bytes
                 || now.taken - ticks_.front().what->time > longest)))
    drop_oldest();
}

/// Names that the next tick shares stay, and are on its bill from then on.
void health_history::drop_oldest() {
  const auto gone = std::move(ticks_.front());
  ticks_.pop_front();
  bytes_ -= gone.bytes;
  if (!ticks_.empty() && ticks_.front().what->daemons == gone.what->daemons)
    ticks_.front().names_bytes = gone.names_bytes;
  else
    bytes_ -= gone.names_bytes;
}

health_history::page health_history::since(std::uint64_t seq,
                                           std::size_t most_rows) const {
  page out;
  out.next = next_;
  if (ticks_.empty())
    return out;
  out.now = ticks_.back().what->time;
  const auto oldest = ticks_.front().what->seq;
  auto at =
    static_cast<std::size_t>(seq > next_ ? 0 : std::max(seq, oldest) - oldest);
  std::size_t rows = 0;
  for (; at < ticks_.size(); ++at) {
    const auto& tick = ticks_[at].what;
    rows += rows_of_tick(*tick);
    if (rows > most_rows && !out.ticks.empty()) {
      out.next = tick->seq;
      out.more = true;
      break;
    }
    out.ticks.push_back(tick);
  }
  return out;
}

} // namespace graphmill
