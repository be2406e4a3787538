#pragma once

#include "actors/cluster/coordinator/leading/leading_parts.hpp"
#include "actors/cluster/coordinator/runs/health_reports.hpp"
#include "actors/transport/sessions/responder.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace graphmill {

class run_queue;

/// How the cluster and its runs are: takes what daemons report of their health,
/// answers requests for status and health, and leaves figures for HTTP once a
/// second. Of the COORDINATOR's state, used in its handlers alone.
class figures_sampler {
public:
  using clock = std::chrono::steady_clock;

  figures_sampler(const leading_parts& with, const run_queue& queue);

  status_reply status() const;

  /// A daemon reports its health.
  result<payload> take_report(const incoming_request& request);

  /// The health of the run that a request names, or of the one that began
  /// first.
  result<payload> health(const payload& request) const;

  /// Leaves figures if it is time. @param is_ending The coordinator ends.
  void look(clock::time_point now, bool is_ending);

private:
  /// Of the disk with the folder of runs, bytes; 0: not known.
  struct disk_room {
    std::uint64_t free = 0;
    std::uint64_t size = 0;
  };

  std::string not_ready(bool is_ending) const;
  void look_at_disk(clock::time_point now);
  void tell_changes(submitted_run& run, const run_health& health,
                    clock::time_point now);

  leading_parts with_;
  const run_queue& queue_;
  health_reports reports_;
  clock::time_point leave_at_{};
  clock::time_point look_at_disk_{};
  bool is_looking_at_disk_ = false; ///< A disk far away may not answer.
  disk_room disk_;
};

} // namespace graphmill
