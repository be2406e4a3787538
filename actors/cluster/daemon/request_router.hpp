#pragma once

#include "actors/cluster/base/interfaces.hpp"
#include "actors/remote/interfaces.hpp"
#include "actors/transport/transport.hpp"

#include <mutex>

namespace graphmill {

/// Hands the requests and news of a daemon's transport to its actors, which
/// come later than the transport and end earlier. Thread-safe.
class request_router {
public:
  /// @param coordinator None if another daemon is the coordinator.
  void connect(agent_actor agent, coordinator_actor coordinator,
               data_server_actor data);
  void disconnect() { connect({}, {}, {}); }

  /// Hands a request on; refuses it while no actors are connected.
  void serve(const incoming_request& request);
  void tell(const peer_event& event);

private:
  void serve_control(const incoming_request& request);

  std::mutex mutex_;
  agent_actor agent_;
  coordinator_actor coordinator_;
  data_server_actor data_;
};

} // namespace graphmill
