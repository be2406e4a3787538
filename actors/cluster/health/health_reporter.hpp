#pragma once

#include "actors/process/memory_probe.hpp"
#include "actors/process/process_figures.hpp"
#include "actors/transport/transport.hpp"
#include "messages/wire/health.hpp"
#include "pipelines/figures/figures_board.hpp"
#include "pipelines/health/health_sampler.hpp"
#include "pipelines/health/peer_flows.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What a share of a run has for a report of health. Without a run a report is
/// of what the daemon takes, whatever runs are on.
struct health_source {
  /// The run, and what is known of its share already.
  daemon_health share{};
  std::shared_ptr<const gauge_board> board{};
  std::shared_ptr<const peer_flows> flows{}; ///< Null: nobody counts them.
};

/// Part of the AGENT's state: makes the daemon's reports of health, one of
/// itself and one of each share of a run, which are due once a second. Runs in
/// the AGENT's handlers, and waits for nothing.
class health_reporter {
public:
  using clock = std::chrono::steady_clock;

  explicit health_reporter(std::shared_ptr<transport> net)
    : net_(std::move(net)) {}

  /// Whether a report is due.
  bool due(clock::time_point now) const { return now >= next_; }

  daemon_health report(const health_source& of, clock::time_point now);

  /// What the daemon tells of itself over HTTP, with the last reports of these
  /// runs.
  daemon_figures figures(const std::vector<std::string>& runs,
                         clock::time_point now);

  /// There is no share of the run any more.
  void forget(const std::string& run) { runs_.erase(run); }

private:
  struct totals {
    clock::time_point at{};
    process_figures process;
    std::uint64_t memory_bytes = 0;
    daemon_figures::traffic_sums traffic;
  };
  /// What the reports of a run are made from.
  struct telling {
    health_sampler sampler;
    peer_flow_sampler peers;
    std::optional<totals> before;
    std::optional<daemon_health> last; ///< Report,
    clock::time_point last_at{};       ///< made then.
  };
  /// Once for all reports of the same moment.
  const totals& read(clock::time_point now);

  std::shared_ptr<transport> net_;
  clock::time_point next_{};
  std::map<std::string, telling> runs_;
  memory_probe memory_;
  totals read_; ///< Last.
};

} // namespace graphmill
