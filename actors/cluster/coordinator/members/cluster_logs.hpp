#pragma once

#include "actors/cluster/coordinator/members/daemon_registry.hpp"
#include "actors/cluster/coordinator/outside/cluster_port.hpp"
#include "actors/cluster/health/log_collector.hpp"
#include "actors/transport/sessions/responder.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace graphmill {

/// What daemons have logged and traced, for clients. Of the COORDINATOR's
/// state, used in its handlers alone.
class cluster_logs {
public:
  using clock = std::chrono::steady_clock;

  /// @param lines Of the coordinator's daemon, to which those of all others are
  /// added; null: nobody asks for them.
  cluster_logs(cluster_port& port, const daemon_registry& registry,
               std::shared_ptr<log_ring> lines);

  /// Asks daemons for what they have logged since they were asked last.
  void collect(clock::time_point now);

  /// A daemon was started anew, and so were its lines.
  void forget(const std::string& daemon) { collector_.forget(daemon); }

  /// Answers a request for lines with those that are known. Others are
  /// collected at once.
  result<payload> lines(const payload& request);

  /// Answers a request for a trace: which daemons have one, or the spans of the
  /// daemon that it names. Spans are passed on undecoded: there may be many.
  void trace(const payload& request, const responder& reply) const;

private:
  cluster_port& port_;
  const daemon_registry& registry_;
  std::shared_ptr<log_ring> lines_;
  log_collector collector_;
};

} // namespace graphmill
