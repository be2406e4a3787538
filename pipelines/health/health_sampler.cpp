#include "pipelines/health/health_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace graphmill {

namespace {

std::size_t state_place(actor_state state) {
  return static_cast<std::size_t>(state);
}

/// The state that most workers are in. Of as many, the one that is worse.
actor_state most_common(const gauge_reading& now) {
  auto out = actor_state::starting;
  for (std::size_t i = state_place(out); i < actor_states; ++i)
    if (now.now[i] != 0 && now.now[i] >= now.now[state_place(out)])
      out = static_cast<actor_state>(i);
  return out;
}

std::string waits_for(const actor_label& who) {
  switch (who.kind) {
  case actor_kind::sampler:
    return "for neighbours from the sampling services";
  case actor_kind::fetcher:
    return "for rows from the feature services";
  case actor_kind::trainer:
  case actor_kind::gradient_group:
    return "for the gradients of other trainers";
  case actor_kind::cache_filler:
    return "for what other daemons tell of their rows";
  case actor_kind::conductor:
    return "for the members of the run";
  case actor_kind::dispatcher:
    return "for the stages and trainers that have its batches";
  default:
    if (who.peer.empty())
      return "for the answers of others";
    return fmt::format("for answers of daemon \"{}\"", who.peer);
  }
}

/// Of a worker that is at one job for longer than reports look back: its like,
/// who go on, have the state and the batch that are told. Seconds.
constexpr double long_job = 5;

std::string long_job_of(const gauge_reading& now, std::int64_t moment) {
  const auto running = state_place(actor_state::running);
  const auto place = unpack_batch(now.at_hand[running]);
  const auto seconds = double(moment - now.since[running]) * 1e-9;
  if (now.now[running] == 0 || seconds < long_job || !place)
    return {};
  return fmt::format("one of its workers has been at {}, epoch {}, step {} for "
                     "{:.0f} s",
                     to_string(place->phase), std::int64_t{place->epoch} + 1,
                     place->step + 1, seconds);
}

void tell_latencies(const latency_counts& recent, actor_health& out) {
  out.answers = recent.total();
  out.mean_latency = recent.mean();
  out.median_latency = recent.quantile(0.5);
  out.p90_latency = recent.quantile(0.9);
  out.p99_latency = recent.quantile(0.99);
}

std::string reason_of(const actor_gauge& gauge, actor_state state) {
  switch (state) {
  case actor_state::starved:
    return "for input";
  case actor_state::stalled:
    return "for credit";
  case actor_state::waiting:
    return waits_for(gauge.label());
  case actor_state::restarting:
  case actor_state::failed:
    return gauge.last_error();
  default:
    return {};
  }
}

/// What a report has no room for is left out: of those who are there once for
/// each part or daemon, and of whose workers none has died, who has made others
/// wait least. Without trainers and stages nobody could say what limits a run:
/// these come first, so that they have the same places each time.
void keep_most_telling(std::vector<actor_health>& actors, std::size_t most) {
  const auto is_one_of_many = [](const actor_health& actor) {
    return actor.part >= 0 || !actor.peer.empty();
  };
  // Of `std::ranges` those that give a subrange are not for Clang 14 with
  // GCC's library, by which the fuzzed program is built.
  const auto many = std::stable_partition(actors.begin(), actors.end(),
                                          std::not_fn(is_one_of_many));
  std::ranges::stable_sort(
    many, actors.end(), std::ranges::greater{}, [](const actor_health& actor) {
      return std::pair{actor.in_trouble(),
                       double(actor.answers) * actor.mean_latency};
    });
  actors.resize(std::min(actors.size(), most));
}

} // namespace

actor_health health_between(const actor_gauge& gauge,
                            const gauge_reading& before,
                            const gauge_reading& now) {
  const auto& who = gauge.label();
  actor_health out;
  out.kind = who.kind;
  out.part = who.part;
  out.rank = who.rank;
  out.peer = who.peer.substr(0, health_limits::text);
  out.workers = static_cast<std::uint32_t>(gauge.workers());
  out.batch = now.batch;
  out.queue = now.queue;
  out.credit_batches = now.credit_batches;
  out.credit_bytes = now.credit_bytes;
  out.peak_batches = now.peak_batches;
  out.peak_bytes = now.peak_bytes;
  out.most_batches = gauge.most_batches();
  out.most_bytes = gauge.most_bytes();
  out.items = now.items;
  out.bytes = now.bytes;
  out.restarts = now.restarts;
  out.recent_restarts = now.restarts - before.restarts;
  out.last_error = gauge.last_error();
  const auto elapsed =
    std::chrono::duration<double>(now.at - before.at).count();
  const auto whole = elapsed * 1e9 * double(gauge.workers());
  const auto share = [whole](std::int64_t time) {
    return whole > 0 ? std::clamp(double(time) / whole, 0.0, 1.0) : 0.0;
  };
  const auto spent = [&before, &now](actor_state state) {
    return now.spent[state_place(state)] - before.spent[state_place(state)];
  };
  const auto running = spent(actor_state::running);
  auto busy = running;
  if (now.busy)
    busy = std::clamp<std::int64_t>(*now.busy - before.busy.value_or(0), 0,
                                    std::max<std::int64_t>(running, 0));
  out.busy = share(busy);
  out.waiting = share(spent(actor_state::waiting) + running - busy);
  out.starved = share(spent(actor_state::starved));
  out.stalled = share(spent(actor_state::stalled));
  out.down = share(spent(actor_state::restarting) + spent(actor_state::failed)
                   + spent(actor_state::starting));
  if (elapsed > 0) {
    out.items_per_second = double(now.items - before.items) / elapsed;
    out.bytes_per_second = double(now.bytes - before.bytes) / elapsed;
  }
  tell_latencies(now.latencies.since(before.latencies), out);
  out.state = most_common(now);
  const auto since = now.since[state_place(out.state)];
  const auto moment = std::chrono::duration_cast<std::chrono::nanoseconds>(
                        now.at.time_since_epoch())
                        .count();
  out.in_state = std::max(0.0, double(moment - since) * 1e-9);
  // With jobs, but hardly at work.
  if (out.state == actor_state::running && now.busy && 2 * busy < running)
    out.state = actor_state::waiting;
  auto why = reason_of(gauge, out.state);
  if (gauge.workers() > 1)
    if (const auto job = long_job_of(now, moment); !job.empty())
      why += (why.empty() ? "" : "; ") + job;
  out.why = why.substr(0, health_limits::text);
  return out;
}

std::vector<peer_health>
peers_of(const std::vector<std::shared_ptr<const actor_gauge>>& gauges,
         const std::vector<actor_health>& actors,
         const std::vector<double>& sent_per_second) {
  std::map<std::string, peer_health> by_name;
  for (std::size_t i = 0; i < gauges.size(); ++i) {
    if (actors[i].peer.empty())
      continue;
    auto& peer = by_name[actors[i].peer];
    const auto before = double(peer.requests);
    const auto more = double(actors[i].answers);
    if (before + more > 0)
      peer.mean_round_trip =
        (before * peer.mean_round_trip + more * actors[i].mean_latency)
        / (before + more);
    peer.requests += actors[i].answers;
    peer.asked_per_second += actors[i].items_per_second;
    peer.sent_per_second += sent_per_second[i];
    peer.received_per_second += actors[i].bytes_per_second;
  }
  std::vector<peer_health> out;
  for (auto& [name, peer] : by_name) {
    if (out.size() == health_limits::peers)
      break;
    peer.name = name;
    out.push_back(std::move(peer));
  }
  return out;
}

void health_sampler::sample(const gauge_board& board, clock::time_point now,
                            daemon_health& into) {
  const auto gauges = board.all();
  std::vector<double> sent;
  into.actors.clear();
  into.window = 0;
  // Those of an earlier attempt at the run were on another board.
  auto known = std::exchange(readings_, {});
  for (const auto& gauge : gauges) {
    readings_.insert(known.extract(gauge));
    auto& kept = readings_[gauge];
    auto reading = gauge->read(now);
    gauge_reading before; // Without any: since it was spawned.
    if (kept.empty()) {
      std::int64_t lived = 0;
      for (auto time : reading.spent)
        lived += time;
      before.at = now
                  - std::chrono::nanoseconds{
                    lived / static_cast<std::int64_t>(gauge->workers())};
    } else {
      before = kept.front();
    }
    into.actors.push_back(health_between(*gauge, before, reading));
    const auto seconds = std::chrono::duration<double>(now - before.at).count();
    into.window = std::max(into.window, seconds);
    sent.push_back(seconds > 0
                     ? double(reading.bytes_sent - before.bytes_sent) / seconds
                     : 0);
    kept.push_back(std::move(reading));
    if (kept.size() > span)
      kept.pop_front();
  }
  into.peers = peers_of(gauges, into.actors, sent);
  if (into.actors.size() > health_limits::actors) {
    into.left_out =
      static_cast<std::uint32_t>(into.actors.size() - health_limits::actors);
    keep_most_telling(into.actors, health_limits::actors);
  }
}

} // namespace graphmill
