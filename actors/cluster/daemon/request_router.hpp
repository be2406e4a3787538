#pragma once

#include "actors/cluster/base/interfaces.hpp"
#include "actors/process/logs/log_ring.hpp"
#include "actors/remote/interfaces.hpp"
#include "actors/remote/rank_links.hpp"
#include "actors/transport/transport.hpp"
#include "pipelines/health/peer_flows.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace graphmill {

/// Hands the requests and news of a daemon's transport to its actors, which
/// come later than the transport and end earlier, and what ranks send each
/// other to its place, without an actor in between. Thread-safe.
class request_router {
public:
  /// @param lines Of the daemon's log, for its coordinator; null: there are
  /// none to be had, as of a coordinator, which has its own.
  /// @param flows Count what other daemons ask for; null: nobody does.
  explicit request_router(std::shared_ptr<const rank_inboxes> inboxes,
                          std::shared_ptr<const log_ring> lines = nullptr,
                          std::shared_ptr<const peer_flows> flows = nullptr)
    : inboxes_(std::move(inboxes)), lines_(std::move(lines)),
      flows_(std::move(flows)) {}

  /// @param coordinator None if another daemon is the coordinator.
  void connect(agent_actor agent, coordinator_actor coordinator,
               data_server_actor data);
  void disconnect() { connect({}, {}, {}); }

  /// Hands a request on; refuses it while no actors are connected.
  void serve(const incoming_request& request);
  void tell(const peer_event& event);

private:
  void serve_control(const incoming_request& request);
  incoming_request counted(const incoming_request& request) const;
  result<payload> log_lines(const incoming_request& request) const;

  const std::shared_ptr<const rank_inboxes> inboxes_;
  const std::shared_ptr<const log_ring> lines_;
  const std::shared_ptr<const peer_flows> flows_;
  std::mutex mutex_;
  agent_actor agent_;
  coordinator_actor coordinator_;
  data_server_actor data_;
};

} // namespace graphmill
