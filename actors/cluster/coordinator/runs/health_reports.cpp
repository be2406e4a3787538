#include "actors/cluster/coordinator/runs/health_reports.hpp"

#include "actors/cluster/coordinator/members/daemon_registry.hpp"
#include "actors/cluster/coordinator/runs/active_runs.hpp"

#include <utility>

namespace graphmill {

result<void> health_reports::admit(const peer_identity& who, std::size_t bytes,
                                   const active_runs& on,
                                   clock::time_point now) {
  auto worth = loads_.admit(who.name, bytes, now);
  if (!worth)
    on.first([&](submitted_run& run) {
      if (run.is_member(who))
        worth = run.on.health.admit(who.name, bytes, now);
      return worth.has_value();
    });
  return worth;
}

result<health_reports::taken>
health_reports::take(const peer_identity& who, const payload& told,
                     const daemon_registry& cluster, const active_runs& on,
                     clock::time_point now) {
  const auto daemon = cluster.find(who.name);
  if (!daemon || daemon.value().incarnation != who.incarnation)
    return fail(ec::not_found, "no daemon \"{}\" is in the cluster", who.name);
  GRAPHMILL_TRYV(admit(who, told.byte_size(), on, now));
  auto decoded = decode_daemon_health(told);
  if (!decoded)
    return fail(decoded.error().code, "daemon \"{}\": {}", who.name,
                decoded.error().message);
  auto report = std::move(decoded).value();
  report.daemon = who.name;
  if (report.run.empty()) {
    loads_.take(report, now);
    for (const auto& run : on.all())
      run->on.health.take_own(report, now);
    return taken{};
  }
  const auto run = on.find(report.run);
  if (!run || !run->is_member(who))
    return fail(ec::not_found, "run {} is not on", report.run);
  return taken{run->id, run->on.health.take(std::move(report), now)};
}

} // namespace graphmill
