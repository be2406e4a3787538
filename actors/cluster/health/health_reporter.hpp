#pragma once

#include "actors/http/metrics_board.hpp"
#include "actors/process/memory_probe.hpp"
#include "actors/process/process_figures.hpp"
#include "actors/transport/transport.hpp"
#include "messages/wire/health.hpp"
#include "partition/disk/row_reader.hpp"
#include "partition/sampling/row_census.hpp"
#include "pipelines/health/health_sampler.hpp"
#include "pipelines/health/peer_flows.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace graphmill {

/// What a share of a run has for a report of health.
struct health_source {
  std::string run;
  std::shared_ptr<const gauge_board> board;
  std::uint64_t cache_bytes = 0;
  std::uint64_t cache_rows_wanted = 0;
  std::uint64_t cache_rows_found = 0;
  std::vector<std::string> long_work{}; ///< Of the process.
  std::uint64_t answer_bytes = 0;       ///< The same.
  std::uint64_t most_answer_bytes = 0;
  std::shared_ptr<const peer_flows> flows{};   ///< Null: nobody counts them.
  std::shared_ptr<const disk_counters> disk{}; ///< Null: parts are mapped.
  cache_offer offer{};
};

/// Part of the AGENT's state: makes the daemon's reports of health, which are
/// due once a second while it has a share of a run. Runs in the AGENT's
/// handlers, and waits for nothing.
class health_reporter {
public:
  using clock = std::chrono::steady_clock;

  explicit health_reporter(std::shared_ptr<transport> net)
    : net_(std::move(net)) {}

  /// Whether a report is due.
  bool due(clock::time_point now) const { return now >= next_; }

  daemon_health report(const health_source& of, clock::time_point now);

  /// What the daemon tells of itself over HTTP, with the last report of the
  /// run, if there is one. @param run Empty: none is on.
  daemon_figures figures(const std::string& run, clock::time_point now);

private:
  struct totals {
    clock::time_point at{};
    process_figures process;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };
  totals read(clock::time_point now) const;

  std::shared_ptr<transport> net_;
  clock::time_point next_{};
  std::string run_; ///< That `before_` is of.
  health_sampler sampler_;
  peer_flow_sampler peers_;
  memory_probe memory_;
  std::optional<totals> before_;
  std::optional<daemon_health> last_; ///< Report,
  clock::time_point last_at_{};       ///< made then.
};

} // namespace graphmill
