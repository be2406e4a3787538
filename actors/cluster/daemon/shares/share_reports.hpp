#pragma once

#include "actors/cluster/daemon/shares/hosted_shares.hpp"
#include "actors/cluster/health/health_reporter.hpp"

#include <functional>
#include <string>
#include <vector>

namespace graphmill {

struct share_surroundings;

/// The health of a daemon and of its shares, as the daemon reports it to the
/// coordinator and over HTTP. Used in the AGENT's handlers alone.
class share_reports {
public:
  using clock = health_reporter::clock;
  /// Names what occupies threads of the process for long.
  using long_work = std::function<std::vector<std::string>()>;

  /// @param shares, around Outlive this.
  share_reports(const hosted_shares& shares, const share_surroundings& around,
                long_work busy);

  /// Samples how much memory the process takes, for each share.
  void sample_memory();

  /// One report of the daemon and one of each prepared share; empty while none
  /// is due.
  std::vector<daemon_health> due();

  /// The daemon's figures for HTTP.
  daemon_figures figures(clock::time_point now);

  /// Sends the coordinator the last report of a share that ends: the share may
  /// end a moment after the report before, or before the first one.
  void report_end(const hosted_share& share);

  /// No share of the run is here any more.
  void forget(const std::string& run) { reporter_.forget(run); }

private:
  health_source source_of(const hosted_share& share) const;

  const hosted_shares& shares_;
  const share_surroundings& around_;
  long_work busy_;
  health_reporter reporter_;
};

} // namespace graphmill
