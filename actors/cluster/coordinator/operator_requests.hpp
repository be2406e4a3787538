#pragma once

#include "actors/cluster/coordinator/leading/leading_parts.hpp"
#include "actors/transport/sessions/responder.hpp"
#include "messages/wire/chaos.hpp"
#include "messages/wire/cluster.hpp"

#include <functional>
#include <string>

namespace graphmill {

class run_leader;
class run_starter;

/// What operators ask for: cancel a run, drain, harm or stop a daemon, stop the
/// cluster. Of the COORDINATOR's state, used in its handlers alone.
class operator_requests {
public:
  /// @param end_cluster Ends the coordinator, without which no daemon is of
  /// use. Called last.
  operator_requests(const leading_parts& with, run_leader& leader,
                    run_starter& starter, std::function<void()> end_cluster);

  void cancel(const payload& request, const responder& reply);
  result<payload> drain(const payload& request);
  /// Passes on to a daemon that it is to harm itself.
  void chaos(const payload& request, const responder& reply);
  void stop(const payload& request, const responder& reply);

private:
  void inflict(const chaos_request& asked, const daemon_status& target,
               const responder& reply);
  void stop_daemon(const std::string& name, const responder& reply);
  void stop_all(const std::string& target, const responder& reply);

  leading_parts with_;
  run_leader& leader_;
  run_starter& starter_;
  std::function<void()> end_cluster_;
};

} // namespace graphmill
