#include "actors/cluster/coordinator/leading/run_places.hpp"

#include "actors/cluster/coordinator/members/cluster_daemons.hpp"
#include "actors/cluster/coordinator/members/daemon_registry.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"
#include "actors/cluster/coordinator/runs/queue_pass.hpp"
#include "actors/cluster/coordinator/runs/submitted_run.hpp"
#include "messages/words/enumerated.hpp"

namespace graphmill {

result<placement> run_places::among(const definition& def,
                                    daemon_state up_to) const {
  return place(def, parts_, registry_.offers(up_to));
}

result<placement> run_places::now(const definition& def) const {
  auto out = among(def, daemon_state::ready);
  if (out)
    return out;
  if (among(def, daemon_state::draining))
    return fail(ec::unavailable,
                "the run needs what is draining: {}; `graphmill drain NAME "
                "--back` takes a daemon into service again",
                enumerated(registry_.names_of(daemon_state::draining)));
  auto reason = out.error();
  for (const auto& daemon : registry_.statuses())
    if (daemon.state == daemon_state::damaged)
      reason.message +=
        fmt::format("; the data of daemon \"{}\" cannot be used: {}",
                    daemon.name, daemon.note);
  if (among(def, daemon_state::lost))
    reason.message += fmt::format(
      "; lost: {}", enumerated(registry_.names_of(daemon_state::lost)));
  return reason;
}

result<void> run_places::check(const definition& def) const {
  if (among(def, daemon_state::ready) || among(def, daemon_state::draining))
    return ok();
  return now(def).error();
}

result<placement> run_places::feed_among(const definition& def,
                                         const std::string& consumer,
                                         daemon_state up_to) const {
  auto offers = registry_.offers(up_to);
  for (auto& offer : offers)
    offer.slots = offer.name == consumer ? 1 : 0;
  return place(def, parts_, offers);
}

result<placement> run_places::of_feed(const definition& def,
                                      const std::string& consumer) const {
  auto out = feed_among(def, consumer, daemon_state::ready);
  if (out)
    return out;
  auto reason = out.error();
  if (feed_among(def, consumer, daemon_state::draining))
    reason.message += fmt::format(
      "; draining: {}", enumerated(registry_.names_of(daemon_state::draining)));
  else if (feed_among(def, consumer, daemon_state::lost))
    reason.message += fmt::format(
      "; lost: {}", enumerated(registry_.names_of(daemon_state::lost)));
  return reason;
}

result<void> run_places::check_feed(const definition& def,
                                    const std::string& consumer) const {
  if (feed_among(def, consumer, daemon_state::draining))
    return ok();
  return of_feed(def, consumer).error();
}

result<placement> run_places::beside(const definition& def,
                                     const submitted_run& run) const {
  auto offers = registry_.offers();
  for (const auto& other : active_.all())
    if (other.get() != &run)
      take_slots(offers, other->on.where);
  return place(def, parts_, offers);
}

result<void> run_places::check_names(const definition& def) const {
  for (const auto& name : def.placement.daemons)
    if (!registry_.find(name))
      return fail(ec::invalid_argument,
                  "`placement.daemons` names daemon \"{}\", which is not in "
                  "the cluster: `graphmill status` lists those that are",
                  name);
  return ok();
}

error run_places::without_slots() const {
  std::vector<std::string> others;
  for (const auto& run : active_.all())
    others.push_back(run->id);
  return fail(ec::unavailable,
              "the slots that it needs are taken{}{}, or kept for runs that "
              "come before it",
              others.empty() ? "" : " by ", enumerated(others));
}

} // namespace graphmill
