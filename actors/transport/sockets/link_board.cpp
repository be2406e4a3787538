#include "actors/transport/sockets/link_board.hpp"

#include <utility>

namespace graphmill {

void link_board::asks(const std::string& address, const std::string& peer,
                      link_state state, std::string why,
                      clock::time_point now) {
  std::lock_guard lock{mutex_};
  auto [at, fresh] = asked_.try_emplace(address);
  auto& known = at->second;
  if (fresh || known.state != state)
    known.since = now;
  known.peer = peer;
  known.state = state;
  known.why = std::move(why);
}

void link_board::forget(const std::string& address) {
  std::lock_guard lock{mutex_};
  asked_.erase(address);
}

void link_board::asked_by(const peer_event& news, clock::time_point now) {
  const auto& who = news.identity;
  if (who.address.empty() || who.name.empty())
    return;
  std::lock_guard lock{mutex_};
  const auto known = askers_.find(who.name);
  const auto is_up = news.change == peer_event::kind::up
                     || news.change == peer_event::kind::replaced;
  if (is_up) {
    if (known == askers_.end() && askers_.size() >= most_askers)
      return;
    askers_[who.name] = {who.incarnation,
                         {who.name, link_state::ready, now, {}}};
    return;
  }
  // What comes late of a process that has been followed by another one.
  if (known == askers_.end() || known->second.incarnation != who.incarnation)
    return;
  if (news.change == peer_event::kind::left)
    askers_.erase(known);
  else
    known->second.standing = {who.name, link_state::lost, now, news.reason};
}

std::vector<link_standing> link_board::read() const {
  std::lock_guard lock{mutex_};
  std::map<std::string, const link_standing*> by_name;
  for (const auto& [name, one] : askers_)
    by_name.emplace(name, &one.standing);
  for (const auto& [address, one] : asked_) {
    if (one.peer.empty())
      continue;
    auto& told = by_name[one.peer];
    if (told == nullptr || one.state != link_state::closed)
      told = &one;
  }
  std::vector<link_standing> out;
  for (const auto& [name, one] : by_name)
    out.push_back(*one);
  return out;
}

} // namespace graphmill
