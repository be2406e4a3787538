#pragma once

#include "actors/cluster/health/daemon_loads.hpp"
#include "actors/transport/sessions/peer.hpp"
#include "messages/base/error.hpp"
#include "messages/wire/frame.hpp"

#include <string>
#include <vector>

namespace graphmill {

class active_runs;
class daemon_registry;

/// Takes what daemons tell of their health: of themselves, and of their shares
/// of the runs that are on. Of the COORDINATOR's state, used in its handlers
/// alone.
class health_reports {
public:
  using clock = daemon_loads::clock;

  struct taken {
    std::string run;                   ///< Empty: the daemon told of itself.
    std::vector<std::string> troubles; ///< What in it is worth an event.
  };

  /// Nothing is decoded, for reports are large, of who is not in the cluster,
  /// or tells too often. Which run a report is of, or whether of none, is not
  /// known before: a daemon may tell as often as all of its runs together
  /// allow, and once more.
  /// @returns `not_found` if it is of nobody in the cluster, or of a run that
  /// is not on, as daemons tell until they have heard that it is over.
  result<taken> take(const peer_identity& who, const payload& told,
                     const daemon_registry& cluster, const active_runs& on,
                     clock::time_point now);

  /// What daemons told last of themselves.
  const daemon_loads& loads() const { return loads_; }
  void forget_silent(clock::time_point now) { loads_.forget_silent(now); }

private:
  result<void> admit(const peer_identity& who, std::size_t bytes,
                     const active_runs& on, clock::time_point now);

  daemon_loads loads_;
};

} // namespace graphmill
