#include "pipelines/figures/actor_periods.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

namespace graphmill {

namespace {

bool is_at(const actor_place& place, const actor_health& actor) {
  return place.kind == actor.kind && place.part == actor.part
         && place.rank == actor.rank && place.peer == actor.peer;
}

} // namespace

const actor_period::share* actor_period::of(const std::string& daemon) const {
  const auto at =
    std::ranges::lower_bound(shares, daemon, {}, &actor_period::share::daemon);
  return at != shares.end() && at->daemon == daemon ? &*at : nullptr;
}

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

/// Daemons tell of their actors in the same order each second, mostly.
/// @returns the number of places, if there is no room.
std::size_t actor_periods::told::place_of(const actor_health& actor,
                                          std::size_t expected) {
  if (expected < places.size() && is_at(places[expected], actor))
    return expected;
  const auto known = std::ranges::find_if(
    places, [&actor](const auto& place) { return is_at(place, actor); });
  const auto at = static_cast<std::size_t>(known - places.begin());
  if (known == places.end() && places.size() < most_actors) {
    places.push_back({actor.kind, actor.part, actor.rank, actor.peer});
    of.emplace_back();
  }
  return at;
}

void actor_periods::told::add(const std::vector<actor_health>& actors) {
  std::size_t at = 0;
  for (const auto& actor : actors) {
    at = place_of(actor, at);
    if (at < of.size())
      of[at].add(actor);
    ++at;
  }
}

/// The next period begins with those who told in this one.
actor_period::share actor_periods::told::finish(const std::string& daemon,
                                                std::uint32_t seconds) {
  actor_period::share out;
  out.daemon = daemon;
  std::vector<actor_place> heard;
  for (std::size_t i = 0; i < places.size(); ++i)
    if (2 * of[i].reports >= seconds && of[i].reports != 0) {
      heard.push_back(std::move(places[i]));
      out.samples.push_back(of[i].sample());
    }
  out.samples.shrink_to_fit();
  if (!before || *before != heard)
    before = std::make_shared<const std::vector<actor_place>>(heard);
  out.actors = before;
  places = std::move(heard);
  of.assign(places.size(), {});
  return out;
}

actor_periods::period actor_periods::gathered::finish(const std::string& run,
                                                      unix_time end) {
  auto out = std::make_shared<actor_period>();
  out->run = run;
  out->begin = std::exchange(begin, end);
  out->end = end;
  out->shares.reserve(shares.size());
  for (auto& [daemon, told] : shares)
    out->shares.push_back(told.finish(daemon, seconds));
  std::erase_if(out->shares,
                [](const auto& share) { return share.samples.empty(); });
  out->shares.shrink_to_fit();
  std::erase_if(shares,
                [](const auto& share) { return share.second.places.empty(); });
  seconds = 0;
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
        || now.taken - gathered.begin >= length)
      out.push_back(gathered.finish(id, now.taken));
    run = is_over ? runs_.erase(run) : std::next(run);
  }
  for (const auto& run : now.runs) {
    const auto [known, is_new] = runs_.try_emplace(run.health.run);
    if (is_new)
      known->second.begin = now.taken;
    ++known->second.seconds;
    for (const auto& daemon : run.health.daemons)
      if (daemon.age <= oldest_report)
        known->second.shares[daemon.daemon].add(daemon.actors);
  }
  return out;
}

} // namespace graphmill
