#include "pipelines/figures/cluster_history.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace graphmill {

namespace {

/// What a tick takes beside its lists: itself, its place, and what the
/// allocator and its counts of owners add.
constexpr std::size_t tick_bytes = sizeof(history_tick) + 128;

std::size_t kept_text_bytes(const std::string& text) {
  return sizeof text + (text.capacity() > 15 ? text.capacity() + 17 : 0);
}

std::size_t kept_text_bytes(const actor_place& place) {
  return sizeof place - sizeof place.peer + kept_text_bytes(place.peer);
}

/// Calls `then` with each list of names that ticks share, and what it takes.
void for_each_list(const history_tick& tick, auto then) {
  const auto tell = [&then](const auto& names) {
    std::size_t bytes = 64;
    for (const auto& name : *names)
      bytes += kept_text_bytes(name);
    then(names.get(), bytes);
  };
  tell(tick.daemons);
  for (const auto& period : tick.periods)
    for (const auto& share : period->shares)
      tell(share.actors);
}

/// Without these lists.
std::size_t bytes_of_tick(const history_tick& tick) {
  auto out = tick_bytes + tick.rows.capacity() * sizeof(daemon_sample);
  for (const auto& run : tick.runs)
    out += sizeof(run_sample) + kept_text_bytes(run.run)
           + run.stages.capacity() * sizeof(stage_sample);
  for (const auto& period : tick.periods) {
    out += sizeof *period + 128 + kept_text_bytes(period->run);
    for (const auto& share : period->shares)
      out += sizeof share + 32 + kept_text_bytes(share.daemon)
             + share.samples.capacity() * sizeof(actor_sample);
  }
  return out;
}

bool is_outdated(const daemon_health& report) {
  return report.age > cluster_history::oldest_report;
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
      for_each_field(figures::actor, [&](const auto& share, std::size_t at) {
        sum.shares[at] += float(weight * share.value(actor).value_or(0));
      });
    }
  }
  std::vector<stage_sample> out;
  out.reserve(static_cast<std::size_t>(
    std::ranges::count_if(workers, [](double many) { return many > 0; })));
  for (std::size_t kind = 0; kind < actor_kinds; ++kind) {
    if (workers[kind] <= 0)
      continue;
    auto& stage = out.emplace_back(sums[kind]);
    stage.kind = static_cast<actor_kind>(kind);
    for (auto& share : stage.shares)
      share *= float(1 / workers[kind]);
  }
  return out;
}

std::vector<daemon_sample> daemon_samples_of(const cluster_figures& now) {
  std::vector<daemon_sample> out;
  out.reserve(now.status.daemons.size());
  for (const auto& daemon : now.status.daemons) {
    auto& sample = out.emplace_back();
    sample.state = daemon.state;
    for_each_field(figures::load, [&](const auto& row, std::size_t at) {
      constexpr auto unknown = std::numeric_limits<double>::quiet_NaN();
      sample.figures[at] =
        float((daemon.load ? row.value(*daemon.load) : std::nullopt)
                .value_or(unknown));
    });
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

void cluster_history::take(const cluster_figures& now,
                           const std::vector<actor_periods::period>& periods) {
  std::ranges::copy_if(
    periods, std::back_inserter(waiting_),
    [&now](const auto& period) { return period->begin <= now.taken; });
  while (!ticks_.empty() && ticks_.back()->time > now.taken) {
    forget(*ticks_.back());
    ticks_.pop_back();
  }
  if (!ticks_.empty() && now.taken - ticks_.back()->time < shortest_pause)
    return;
  auto made = std::make_shared<history_tick>();
  made->seq = next_++;
  made->time = now.taken;
  made->rows = daemon_samples_of(now);
  made->runs.reserve(now.runs.size());
  for (const auto& run : now.runs)
    made->runs.push_back(
      {run.health.run, run.health.progress, stage_samples_of(run.health)});
  made->periods = std::exchange(waiting_, {});
  const auto& daemons = now.status.daemons;
  if (!ticks_.empty()
      && std::ranges::equal(*ticks_.back()->daemons, daemons, {}, {},
                            &daemon_status::name)) {
    made->daemons = ticks_.back()->daemons;
  } else {
    std::vector<std::string> names;
    names.reserve(daemons.size());
    for (const auto& daemon : daemons)
      names.push_back(daemon.name);
    made->daemons =
      std::make_shared<const std::vector<std::string>>(std::move(names));
  }
  add(std::move(made));
  while (ticks_.size() > most_ticks
         || (ticks_.size() > 1
             && (bytes_ > most_bytes
                 || now.taken - ticks_.front()->time > longest))) {
    forget(*ticks_.front());
    ticks_.pop_front();
  }
}

void cluster_history::add(tick made) {
  bytes_ += bytes_of_tick(*made);
  for_each_list(*made, [this](const void* list, std::size_t bytes) {
    if (++sharers_[list] == 1)
      bytes_ += bytes;
  });
  ticks_.push_back(std::move(made));
}

void cluster_history::forget(const history_tick& gone) {
  bytes_ -= bytes_of_tick(gone);
  for_each_list(gone, [this](const void* list, std::size_t bytes) {
    if (--sharers_[list] != 0)
      return;
    sharers_.erase(list);
    bytes_ -= bytes;
  });
}

std::vector<actor_periods::period>
cluster_history::actors(const std::string& run) const {
  std::vector<actor_periods::period> out;
  for (const auto& tick : ticks_)
    std::ranges::copy_if(
      tick->periods, std::back_inserter(out),
      [&run](const auto& period) { return period->run == run; });
  return out;
}

cluster_history::page cluster_history::since(std::uint64_t seq,
                                             std::size_t most_rows) const {
  page out;
  out.next = next_;
  if (ticks_.empty())
    return out;
  out.now = ticks_.back()->time;
  const auto seq_of = [](const tick& one) { return one->seq; };
  std::size_t rows = 0;
  for (auto at =
         std::ranges::lower_bound(ticks_, seq > next_ ? 0 : seq, {}, seq_of);
       at != ticks_.end(); ++at) {
    const auto& tick = *at;
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
