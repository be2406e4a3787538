#include "actors/cluster/coordinator/runs/submitted_run.hpp"

#include <algorithm>
#include <utility>

namespace graphmill {

definition submitted_run::wanted() const {
  auto out = def;
  if (const auto size = size_at(def, point())) {
    // Those of `placement.trainers` that are not there need not come.
    out = sized(def, *size);
    out.trainer.min_replicas = *size;
  }
  return out;
}

run_standing submitted_run::standing(std::vector<std::string> daemons) const {
  return {place, attempts, home, from_run, from_checkpoint, std::move(daemons)};
}

std::vector<std::string>
submitted_run::holders_but(const std::string& daemon) const {
  std::vector<std::string> out{holders.begin(), holders.end()};
  std::erase(out, daemon);
  return out;
}

std::set<std::string> names_of(const placement& where) {
  std::set<std::string> out;
  for (const auto& daemon : where.daemons)
    out.insert(daemon.name);
  return out;
}

bool submitted_run::uses(const std::string& daemon) const {
  return std::ranges::any_of(on.where.daemons, [&daemon](const auto& placed) {
    return placed.name == daemon;
  });
}

bool submitted_run::is_member(const peer_identity& identity) const {
  return std::ranges::any_of(on.where.daemons, [&identity](const auto& placed) {
    return placed.name == identity.name && placed.address == identity.address;
  });
}

bool submitted_run::can_do_without(const std::string& daemon) const {
  if (!on.sound.contains(daemon))
    return false;
  const auto& daemons = on.where.daemons;
  auto position = daemons.size();
  std::vector<std::uint16_t> gone;
  for (std::size_t d = 0; d < daemons.size(); ++d) {
    if (daemons[d].name == daemon)
      position = d;
    else if (life.has_lost(daemons[d].name))
      gone.push_back(static_cast<std::uint16_t>(d));
  }
  return position != daemons.size()
         && on.where.can_spare(static_cast<std::uint16_t>(position), gone);
}

attempt::task submitted_run::fail_run(error reason) {
  const auto next = life.fail_run(reason);
  if (next != attempt::task::tell_conductor)
    return next;
  if (!on.conductor)
    return life.conducted(std::move(reason));
  on.conductor->fail_run(std::move(reason));
  return next;
}

attempt::task submitted_run::lose(const std::string& daemon,
                                  const error& reason) {
  const auto next = life.lose(daemon, reason);
  if (next != attempt::task::tell_conductor)
    return next;
  if (!on.conductor)
    return life.conducted(reason);
  const auto it = std::find(on.members.begin(), on.members.end(), daemon);
  if (it == on.members.end()) // It serves the others.
    on.conductor->fail_run(reason);
  else
    on.conductor->lose_member(static_cast<std::size_t>(it - on.members.begin()),
                              reason);
  return next;
}

attempt::task submitted_run::cancel(bool now) {
  const auto next = life.cancel();
  if (next != attempt::task::tell_conductor)
    return next;
  if (!on.conductor)
    return life.conducted(
      is_feed() ? fail(ec::cancelled, "stopped by the user")
                : fail(ec::cancelled, "cancelled before {}",
                       attempts == 1 ? "it began" : "its next attempt"));
  on.conductor->cancel(now);
  return next;
}

} // namespace graphmill
