#include "actors/http/api/actor_history.hpp"

#include "actors/http/api/health_history.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace graphmill {

namespace {

/// What a period takes beside its lists: itself, its place, and what the
/// allocator and its counts of owners add.
constexpr std::size_t period_bytes = sizeof(actor_period) + 128;

std::size_t heap_bytes(const std::string& text) {
  return text.capacity() > 15 ? text.capacity() + 17 : 0;
}

bool is_at(const actor_place& place, const std::string& daemon,
           const actor_health& actor) {
  return place.kind == actor.kind && place.part == actor.part
         && place.rank == actor.rank && place.daemon == daemon
         && place.peer == actor.peer;
}

} // namespace

void actor_periods::sums::add(const actor_health& actor) {
  busy += actor.busy;
  starved += actor.starved;
  stalled += actor.stalled;
  waiting += actor.waiting;
  down += actor.down;
  queue = std::max(queue, actor.queue);
  state = actor.state;
  ++reports;
}

actor_sample actor_periods::sums::sample() const {
  const auto share = [this](double sum) {
    return static_cast<std::uint8_t>(
      std::lround(actor_sample::whole * std::min(1.0, sum / reports)));
  };
  constexpr std::uint64_t most = std::numeric_limits<std::uint16_t>::max();
  return {share(busy),
          share(starved),
          share(stalled),
          share(waiting),
          share(down),
          state,
          static_cast<std::uint16_t>(std::min(queue, most))};
}

/// Daemons tell of their actors in the same order each second: where one is
/// found, the next one is beside it.
void actor_periods::gathered::add(const run_health& run) {
  std::size_t at = 0;
  std::map<actor_place, std::size_t> index; // Made if the order is another one.
  const auto find = [&](const std::string& daemon, const actor_health& actor) {
    if (at < places.size() && is_at(places[at], daemon, actor))
      return at;
    if (at > 0 && at <= places.size() && is_at(places[at - 1], daemon, actor))
      return at - 1; // Some are told of twice.
    if (index.empty())
      for (std::size_t i = 0; i < places.size(); ++i)
        index.emplace(places[i], i);
    const actor_place wanted{daemon, actor.kind, actor.part, actor.rank,
                             actor.peer};
    const auto [known, is_new] = index.emplace(wanted, places.size());
    if (is_new && places.size() < most_actors) {
      places.push_back(wanted);
      of.emplace_back();
    }
    return known->second;
  };
  for (const auto& daemon : run.daemons) {
    if (daemon.age > health_history::oldest_report) {
      while (at < places.size() && places[at].daemon == daemon.daemon)
        ++at;
      continue;
    }
    for (const auto& actor : daemon.actors) {
      at = find(daemon.daemon, actor);
      if (at < of.size())
        of[at].add(actor);
      ++at;
    }
  }
}

/// What goes on begins with the actors that were there.
actor_periods::period actor_periods::gathered::finish(const std::string& run) {
  auto out = std::make_shared<actor_period>();
  out->run = run;
  out->begin = begin;
  std::vector<actor_place> told;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (of[i].reports != 0) {
      told.push_back(std::move(places[i]));
      out->samples.push_back(of[i].sample());
    }
  out->samples.shrink_to_fit();
  if (!before || *before != told)
    before = std::make_shared<const std::vector<actor_place>>(told);
  out->actors = before;
  places = std::move(told);
  of.assign(places.size(), {});
  return out;
}

std::vector<actor_periods::period>
actor_periods::take(const cluster_figures& now) {
  std::vector<period> out;
  for (auto run = runs_.begin(); run != runs_.end();) {
    auto& [id, gathered] = *run;
    const auto is_over = std::ranges::none_of(
      now.runs, [&id = id](const auto& on) { return on.health.run == id; });
    if (is_over || now.taken < gathered.begin
        || now.taken - gathered.begin >= length) {
      out.push_back(gathered.finish(id));
      gathered.begin = now.taken;
    }
    run = is_over ? runs_.erase(run) : std::next(run);
  }
  for (const auto& run : now.runs) {
    const auto [known, is_new] = runs_.try_emplace(run.health.run);
    if (is_new)
      known->second.begin = now.taken;
    known->second.add(run.health);
  }
  return out;
}

std::size_t actor_history::bytes_of_names(const actor_period& of) const {
  std::size_t out = 64;
  for (const auto& place : *of.actors)
    out += sizeof place + heap_bytes(place.daemon) + heap_bytes(place.peer);
  return out;
}

void actor_history::add(const std::vector<period>& periods) {
  for (const auto& one : periods) {
    const auto bytes = period_bytes + heap_bytes(one->run)
                       + one->samples.capacity() * sizeof(actor_sample);
    bytes_ += bytes;
    if (++sharers_[one->actors.get()] == 1)
      bytes_ += bytes_of_names(*one);
    periods_.push_back({one, bytes});
  }
  while (periods_.size() > 1
         && (bytes_ > most_bytes
             || periods_.back().what->begin - periods_.front().what->begin
                  > longest))
    drop_oldest();
}

void actor_history::drop_oldest() {
  const auto gone = std::move(periods_.front());
  periods_.pop_front();
  bytes_ -= gone.bytes;
  const auto shared = sharers_.find(gone.what->actors.get());
  if (--shared->second != 0)
    return;
  sharers_.erase(shared);
  bytes_ -= bytes_of_names(*gone.what);
}

std::vector<actor_history::period>
actor_history::of(const std::string& run) const {
  std::vector<period> out;
  for (const auto& one : periods_)
    if (one.what->run == run)
      out.push_back(one.what);
  return out;
}

} // namespace graphmill
