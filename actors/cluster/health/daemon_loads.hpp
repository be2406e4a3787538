#pragma once

#include "actors/cluster/health/report_paces.hpp"
#include "messages/wire/cluster.hpp"
#include "messages/wire/health.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace graphmill {

/// What the daemons of a cluster have told last of what they take, whatever
/// runs are on. Part of the COORDINATOR's state, used in its handlers alone.
class daemon_loads {
public:
  using clock = report_paces::clock;

  /// Whether a report of a daemon of the cluster is worth decoding.
  result<void> admit(const std::string& daemon, std::size_t bytes,
                     clock::time_point now) {
    return paces_.admit(daemon, bytes, now);
  }

  void take(const daemon_health& report, clock::time_point now);

  /// Says it of daemons that have told lately.
  void add_to(std::vector<daemon_status>& daemons, clock::time_point now) const;

  /// Forgets who has told nothing lately, and so all who have gone.
  void forget_silent(clock::time_point now);

private:
  struct told {
    daemon_load load;
    clock::time_point at;
  };
  static bool is_silent(const told& one, clock::time_point now);

  std::map<std::string, told> loads_; ///< By daemon.
  report_paces paces_;
};

} // namespace graphmill
