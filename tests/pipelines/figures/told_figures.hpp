#pragma once

#include "pipelines/figures/figures_board.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace graphmill::test {

/// A cluster of these daemons at one moment, without a run. Times in
/// milliseconds.
inline cluster_figures figures_at(std::int64_t time,
                                  const std::vector<std::string>& daemons) {
  cluster_figures out;
  out.taken = unix_time{time};
  for (const auto& name : daemons) {
    daemon_status daemon;
    daemon.name = name;
    out.status.daemons.push_back(std::move(daemon));
  }
  return out;
}

/// What a daemon takes.
inline daemon_load load_of(double cores) {
  daemon_load out;
  out.cores = cores;
  out.memory_bytes = 104'857'600;
  out.received_per_second = 2048;
  out.sent_per_second = 1024.5;
  out.disk_read_per_second = 4096;
  out.disk_written_per_second = 0.5;
  out.further["host_load"] = 3;
  return out;
}

/// What a daemon tells of its share of a run.
inline daemon_health health_of(const std::string& daemon,
                               std::vector<actor_health> actors) {
  daemon_health out;
  out.daemon = daemon;
  out.actors = std::move(actors);
  return out;
}

inline actor_health actor_of(actor_kind kind, std::uint32_t workers,
                             double busy, double starved) {
  actor_health out;
  out.kind = kind;
  out.workers = workers;
  out.busy = busy;
  out.starved = starved;
  return out;
}

} // namespace graphmill::test
