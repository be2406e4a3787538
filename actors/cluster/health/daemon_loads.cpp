#include "actors/cluster/health/daemon_loads.hpp"

#include "actors/base/timeouts.hpp"

namespace graphmill {

namespace {

daemon_load load_in(const daemon_health& report) {
  return {.cores = report.cores,
          .memory_bytes = report.memory_bytes,
          .peak_memory_bytes = report.peak_memory_bytes,
          .mapped_bytes = report.mapped_bytes,
          .threads = report.threads,
          .descriptors = report.descriptors,
          .most_descriptors = report.most_descriptors,
          .disk_read_per_second = report.disk_read_per_second,
          .disk_written_per_second = report.disk_written_per_second,
          .sent_per_second = report.sent_per_second,
          .received_per_second = report.received_per_second};
}

} // namespace

bool daemon_loads::is_silent(const told& one, clock::time_point now) {
  return now - one.at > timeouts::health_silence;
}

void daemon_loads::take(const daemon_health& report, clock::time_point now) {
  loads_.insert_or_assign(report.daemon, told{load_in(report), now});
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
