#include "actors/transport/sessions/client_shares.hpp"

#include "messages/base/pluralized.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace graphmill {

namespace {

/// From that many hosts on, those that want nothing any more are forgotten.
constexpr std::size_t many_hosts = 64;

std::vector<token_bucket> client_buckets(const client_limits& limits) {
  std::vector<token_bucket> out;
  for (const auto& pace : limits.paces)
    out.emplace_back(pace.client_rate, pace.client_burst);
  return out;
}

std::vector<token_bucket> host_buckets(const client_limits& limits) {
  std::vector<token_bucket> out;
  for (const auto& pace : limits.paces)
    out.emplace_back(pace.host_rate, pace.host_burst);
  return out;
}

} // namespace

void client_shares::keep(const std::string& address,
                         const std::string& incarnation) {
  unkeep(address);
  kept_[address] = incarnation;
  members_.insert(incarnation);
}

void client_shares::unkeep(const std::string& address) {
  const auto known = kept_.find(address);
  if (known == kept_.end())
    return;
  const auto incarnation = std::move(known->second);
  kept_.erase(known);
  if (std::ranges::none_of(kept_, [&incarnation](const auto& other) {
        return other.second == incarnation;
      }))
    members_.erase(incarnation);
}

// -- places

bool client_shares::has_place(const std::string& host,
                              const std::string& incarnation) const {
  if (members_.contains(incarnation))
    return clients_.size() < places_;
  const auto open = places_ - places_ / with_.reserve_divisor;
  if (clients_.size() >= open)
    return false;
  const auto known = hosts_.find(host);
  const auto taken = known == hosts_.end() ? 0 : known->second.places;
  return taken < with_.places_per_free * (open - clients_.size());
}

std::optional<std::string>
client_shares::idlest(session_time now, const std::string& host) const {
  const auto known = hosts_.find(host);
  if (known == hosts_.end())
    return std::nullopt;
  for (const auto& [time, incarnation] : known->second.idle) {
    if (time != session_time::min() && now - time < with_.idle)
      break;
    if (!members_.contains(incarnation))
      return incarnation;
  }
  return std::nullopt;
}

client_shares::refusal client_shares::no_place(session_time now,
                                               const std::string& host) {
  return refuse(now, host,
                fmt::format("it has {} of the {} that its limit of open files "
                            "allows for (ulimit -n), {} from your host, which "
                            "leaves the rest to others: try again",
                            clients_.size(), pluralized(places_, "peer"),
                            host_of(now, host).places),
                with_.pause);
}

void client_shares::came(session_time now, const std::string& host,
                         const std::string& incarnation) {
  const auto [at, is_new] = clients_.try_emplace(incarnation);
  auto& who = at->second;
  if (is_new) {
    who.buckets = client_buckets(with_);
    who.host = host;
    ++host_of(now, host).places;
  }
  set_idle(who, incarnation, now);
}

void client_shares::unconnected(const std::string& incarnation) {
  const auto known = clients_.find(incarnation);
  if (known != clients_.end())
    set_idle(known->second, incarnation, session_time::min());
}

void client_shares::left(session_time now, const std::string& incarnation) {
  const auto known = clients_.find(incarnation);
  if (known == clients_.end())
    return;
  auto& home = host_of(now, known->second.host);
  home.idle.erase({known->second.idle_since, incarnation});
  --home.places;
  clients_.erase(known);
}

/// Notes since when a client wants nothing; while it does, it is in no list.
void client_shares::set_idle(client_books& of, const std::string& incarnation,
                             session_time time) {
  auto& idle = hosts_.at(of.host).idle;
  idle.erase({of.idle_since, incarnation});
  of.idle_since = time;
  if (of.requests == 0)
    idle.emplace(time, incarnation);
}

// -- requests

std::optional<client_shares::refusal>
client_shares::begin(session_time now, const std::string& incarnation,
                     method which, request_class as) {
  auto& who = clients_.at(incarnation);
  auto& home = hosts_.at(who.host);
  const auto kind = static_cast<std::size_t>(as);
  if (as != request_class::of_runs) {
    const auto& [of_client, of_host] = with_.under_way[kind];
    if (who.under_way[kind] >= of_client)
      return refuse(now, who.host,
                    fmt::format("{} requests of yours for `{}` and the like "
                                "are under way already: wait for their answers",
                                who.under_way[kind], to_string(which)),
                    with_.pause);
    // One question of each client is always taken: it is answered soon.
    const auto is_first =
      as == request_class::question && who.under_way[kind] == 0;
    if (home.under_way[kind] >= of_host && !is_first)
      return refuse(now, who.host,
                    fmt::format("{} requests of your host for `{}` and the "
                                "like are under way already",
                                home.under_way[kind], to_string(which)),
                    with_.pause);
    const auto level = who.buckets[kind].level(now);
    const auto hurries =
      level <= with_.paces[kind].client_burst - with_.unhurried;
    if (level < 1 || (hurries && home.buckets[kind].level(now) < 1))
      return refuse(now, who.host,
                    fmt::format("`{}` is asked for too often from {}: at most "
                                "{} times a second",
                                to_string(which),
                                level < 1 ? "this client" : "your host",
                                level < 1 ? with_.paces[kind].client_rate
                                          : with_.paces[kind].host_rate),
                    with_.pause);
    who.buckets[kind].take(now);
    home.buckets[kind].take(now);
  }
  ++home.under_way[kind];
  resume(incarnation, as);
  return std::nullopt;
}

void client_shares::resume(const std::string& incarnation, request_class as) {
  auto& who = clients_.at(incarnation);
  ++who.under_way[static_cast<std::size_t>(as)];
  hosts_.at(who.host).idle.erase({who.idle_since, incarnation});
  ++who.requests;
}

void client_shares::ended(session_time now, const std::string& host,
                          const std::string& incarnation, request_class as) {
  const auto kind = static_cast<std::size_t>(as);
  --host_of(now, host).under_way[kind];
  const auto known = clients_.find(incarnation);
  if (known == clients_.end())
    return;
  auto& who = known->second;
  --who.under_way[kind];
  --who.requests;
  // One without connections stays the first to give up its place.
  const auto is_connected = who.idle_since != session_time::min();
  set_idle(who, incarnation, is_connected ? now : session_time::min());
}

// -- hosts

client_shares::host_books& client_shares::host_of(session_time now,
                                                  const std::string& name) {
  if (const auto known = hosts_.find(name); known != hosts_.end())
    return known->second;
  if (hosts_.size() >= many_hosts)
    std::erase_if(hosts_, [this, now](const auto& entry) {
      return is_free(entry.second, now);
    });
  auto& made = hosts_[name];
  made.buckets = host_buckets(with_);
  return made;
}

/// Whether forgetting a host gives it nothing.
bool client_shares::is_free(const host_books& of, session_time now) const {
  return of.places == 0
         && std::ranges::all_of(of.under_way,
                                [](auto count) { return count == 0; })
         && std::ranges::all_of(
           of.buckets,
           [now](const auto& bucket) { return bucket.is_full(now); })
         && now - of.told >= with_.told_every;
}

client_shares::refusal
client_shares::refuse(session_time now, const std::string& name,
                      std::string why, std::chrono::milliseconds retry_after) {
  auto& home = host_of(now, name);
  ++home.untold;
  refusal out{std::move(why), retry_after, 0};
  if (now - home.told >= with_.told_every) {
    home.told = now;
    out.times = std::exchange(home.untold, 0);
  }
  return out;
}

} // namespace graphmill
