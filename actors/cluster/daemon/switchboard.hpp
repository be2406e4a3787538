#pragma once

#include "actors/cluster/base/interfaces.hpp"
#include "actors/remote/interfaces.hpp"
#include "actors/transport/transport.hpp"

#include <mutex>

namespace graphmill {

/// Where the requests and news of a daemon's transport go: to its actors, from
/// when they are there until they end. Thread-safe.
class switchboard {
public:
  /// @param coordinator None: this daemon is not the one.
  void connect(node_actor node, coordinator_actor coordinator,
               data_server_actor data);
  void disconnect() { connect({}, {}, {}); }

  /// Refused while nobody is connected.
  void serve(const incoming_request& request);
  void tell(const peer_event& event);

private:
  void serve_control(const incoming_request& request);

  std::mutex mutex_;
  node_actor node_;
  coordinator_actor coordinator_;
  data_server_actor data_;
};

} // namespace graphmill
