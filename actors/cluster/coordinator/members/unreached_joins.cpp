#include "actors/cluster/coordinator/members/unreached_joins.hpp"

#include "actors/cluster/coordinator/outside/coordinator_limits.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

std::vector<unreached_joins::join>
unreached_joins::met(const std::string& address,
                     const std::string& incarnation) {
  met_[address] = incarnation;
  std::vector<join> out;
  const auto known = waiting_.find(incarnation);
  if (known == waiting_.end() || known->second.identity.address != address)
    return out;
  out.push_back(std::move(known->second));
  waiting_.erase(known);
  return out;
}

bool unreached_joins::is_met(const peer_identity& who) const {
  const auto known = met_.find(who.address);
  return known != met_.end() && known->second == who.incarnation;
}

result<void> unreached_joins::add(join asked, time_point until) {
  if (const auto before = waiting_.find(asked.identity.incarnation);
      before != waiting_.end()) {
    before->second.reply.reply(
      fail(ec::unavailable, "daemon \"{}\" has asked to join again since",
           asked.identity.name));
    waiting_.erase(before);
  }
  const auto of_host = static_cast<std::size_t>(
    std::ranges::count_if(waiting_, [&asked](const auto& other) {
      return other.second.home == asked.home;
    }));
  if (waiting_.size() >= coordinator_limits::unreached
      || of_host >= coordinator_limits::unreached_of_host)
    return fail(ec::unavailable,
                "{} daemons, {} of them from your host, have asked to join and "
                "have yet to be reached at the addresses that they gave: "
                "ask again",
                waiting_.size(), of_host);
  auto incarnation = asked.identity.incarnation;
  waiting_.emplace(std::move(incarnation),
                   waiting_join{std::move(asked), until});
  return ok();
}

std::optional<unreached_joins::join>
unreached_joins::drop(const std::string& incarnation) {
  const auto known = waiting_.find(incarnation);
  if (known == waiting_.end())
    return std::nullopt;
  join out = std::move(known->second);
  waiting_.erase(known);
  return out;
}

std::vector<unreached_joins::late_join>
unreached_joins::overdue(time_point now) {
  std::vector<late_join> out;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (now < at->second.until) {
      ++at;
      continue;
    }
    auto reason = why_late(at->second);
    out.push_back({std::move(at->second), std::move(reason)});
    at = waiting_.erase(at);
  }
  return out;
}

error unreached_joins::why_late(const join& asked) const {
  const auto& address = asked.identity.address;
  return fail(ec::unavailable,
              "the coordinator cannot reach daemon \"{}\" at {}, where it says "
              "that it listens: {} there; start it with an address that the "
              "coordinator can connect to (--advertise, --interface)",
              asked.identity.name, address,
              met_.contains(address) ? "another process answers"
                                     : "nobody answers");
}

std::vector<peer_identity> unreached_joins::waiting() const {
  std::vector<peer_identity> out;
  for (const auto& [incarnation, asked] : waiting_)
    out.push_back(asked.identity);
  return out;
}

bool unreached_joins::waits_at(const std::string& address) const {
  return std::ranges::any_of(waiting_, [&address](const auto& other) {
    return other.second.identity.address == address;
  });
}

} // namespace graphmill
