#include "actors/cluster/health/daemon_loads.hpp"

#include "actors/base/timeouts.hpp"

namespace graphmill {

bool daemon_loads::is_silent(const told& one, clock::time_point now) {
  return now - one.at > timeouts::health_silence;
}

void daemon_loads::take(const daemon_health& report, clock::time_point now) {
  loads_.insert_or_assign(report.daemon, told{report, now});
}

void daemon_loads::add_to(std::vector<daemon_status>& daemons,
                          clock::time_point now) const {
  for (auto& daemon : daemons)
    if (const auto known = loads_.find(daemon.name);
        known != loads_.end() && daemon.state != daemon_state::lost
        && !is_silent(known->second, now))
      daemon.load = known->second.load;
}

void daemon_loads::forget_silent(clock::time_point now) {
  std::erase_if(loads_,
                [now](const auto& one) { return is_silent(one.second, now); });
  paces_.forget_silent(now);
}

} // namespace graphmill
